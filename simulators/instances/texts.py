"""Instances from real text: exact n-gram tables over classes of symbols."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from draftproof.simulators.support.files import text_of
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.reportable import spelled

TARGET_CONTEXT, PROPOSAL_CONTEXT = 3, 1
"""Number of preceding classes that the target's rows, and the proposal's, depend on."""

HISTORIES = 50
"""Largest number of histories of a text that become instances, the most common first."""


@dataclass(frozen=True)
class Corpus:
    """A text as classes of symbols.

    The characters of the text are ranked by frequency (ties by code point); the character of rank r is in
    class r mod V. The probability of a class after a history is (n + 1) / (N + V): n is the number of times
    the class follows the history's last few classes, N the sum of n over all classes. Adding one keeps every
    probability positive. Positions with fewer than TARGET_CONTEXT classes before them are not counted.
    """

    name: str
    vocab: int
    counts: Mapping[Prefix, tuple[int, ...]]
    histories: tuple[Prefix, ...]

    def row(self, history: Prefix, context: int) -> Row:
        """The smoothed next-class law after the last `context` classes of a history."""
        seen = self.counts.get(history[len(history) - context :], (0,) * self.vocab)
        return weighted([count + 1 for count in seen])


@dataclass(frozen=True)
class Texts(Sequence[Instance]):
    """One instance for each history of TARGET_CONTEXT classes that occurs in a text.

    After the history h, the target's row at prefix x is that of the last TARGET_CONTEXT classes of
    hx, the proposal's that of the last PROPOSAL_CONTEXT.
    """

    corpus: Corpus
    draft: Scheme

    @property
    def name(self) -> str:
        return f"text {self.corpus.name} {self.draft.label} depth {self.draft.depth} V={self.corpus.vocab}"

    def __len__(self) -> int:
        return len(self.corpus.histories)

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        history = self.corpus.histories[index]
        return tabulate(
            self.corpus.vocab,
            self.draft,
            lambda prefix: self.corpus.row(history + prefix, TARGET_CONTEXT),
            lambda prefix: self.corpus.row(history + prefix, PROPOSAL_CONTEXT),
            f"{self.name} after {spelled(history)}",
        )


def corpus(path: Path, vocab: int, histories: int = HISTORIES) -> Corpus:
    """The classes, counts and commonest histories of a text file; BadInput when it has too few characters."""
    text = text_of(path)
    ranked = sorted(Counter(text).items(), key=lambda item: (-item[1], item[0]))
    if vocab < 2 or len(ranked) < vocab:
        raise BadInput(f"{path}: has {len(ranked)} distinct characters; --vocab must be from 2 to that many")
    if len(text) <= TARGET_CONTEXT:
        raise BadInput(f"{path}: is too short; an n-gram of {TARGET_CONTEXT + 1} characters is needed")
    classes = {character: rank % vocab for rank, (character, _) in enumerate(ranked)}
    symbols = [classes[character] for character in text]
    counts: dict[Prefix, list[int]] = {}
    for end in range(TARGET_CONTEXT, len(symbols)):
        for context in (TARGET_CONTEXT, PROPOSAL_CONTEXT):
            history = tuple(symbols[end - context : end])
            counts.setdefault(history, [0] * vocab)[symbols[end]] += 1
    seen = {history: sum(row) for history, row in counts.items() if len(history) == TARGET_CONTEXT}
    common = sorted(seen, key=lambda history: (-seen[history], history))[:histories]
    return Corpus(path.name, vocab, {history: tuple(row) for history, row in counts.items()}, tuple(common))
