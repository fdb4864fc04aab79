"""The output of a run: the record of each step, when a text is finished, and what is shown of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.verify import Outcome

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer makes of bytes that are not a whole character yet."""


@dataclass(frozen=True)
class Step:
    """The record of one step; tensors have a row for each entry of `rows`.

    rows: the prompts that had not ended before the step. logits [B, N, V] are the target's,
    proposal [B, I, V] the drafter's rows (None for a draft without randomness), coins [B, N - 1] and
    extra [B] the verifier's noise. used: the target's rows if they were computed; kernels do not need them.
    accepted: number of drafted tokens accepted. emitted: the tokens added to each row, cut where it ended.
    finished: "end", "stop" or "length", or None. seconds: of the phases draft, target, verify and rest.
    """

    rows: list[int]
    tree: Tree
    sampling: Sampling
    logits: Tensor
    proposal: Tensor | None
    tokens: Tensor
    coins: Tensor
    extra: Tensor
    used: Tensor | None
    outcome: Outcome
    accepted: list[int]
    emitted: list[list[int]]
    finished: list[str | None]
    seconds: dict[str, float]

    @cached_property
    def target(self) -> Tensor:
        """The target's rows [B, N, V] that the verifier judged by."""
        return self.sampling.rows(self.logits) if self.used is None else self.used


def texts(steps: Iterable[Step], count: int) -> list[list[int]]:
    """The tokens that steps emitted for each of `count` prompts."""
    found: list[list[int]] = [[] for _ in range(count)]
    for step in steps:
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            found[row] += tokens
    return found


@dataclass
class Row:
    """One text so far: the tokens emitted, at most `limit`; finished: "end", "stop", "length" or None."""

    limit: int
    tokens: list[int] = field(default_factory=list)
    finished: str | None = None


class Texts:
    """All texts of a run; `going` are the numbers of those that have not ended.

    A text ends at its number of tokens in `limits`, after a token of `ends`, or where one of the strings
    `stops` appears in what `decode` makes of its tokens.
    """

    def __init__(
        self,
        limits: Sequence[int],
        ends: frozenset[int],
        stops: Sequence[str],
        decode: Callable[[Sequence[int]], str],
    ) -> None:
        self.rows, self.ends, self.stops, self.decode = [Row(limit) for limit in limits], ends, stops, decode
        self.going = list(range(len(limits)))

    def take(self, words: Sequence[list[int]]) -> tuple[list[list[int]], list[str | None], list[int]]:
        """Adds a step's tokens to the texts still going. Returns what was added to each, why it ended (or
        None), and the places of those that go on.
        """
        rows = [self.rows[number] for number in self.going]
        added = [self._add(row, word) for row, word in zip(rows, words, strict=True)]
        stay = [place for place, row in enumerate(rows) if row.finished is None]
        self.going = [self.going[place] for place in stay]
        return added, [row.finished for row in rows], stay

    def _add(self, row: Row, new: list[int]) -> list[int]:
        before = len(row.tokens)
        taken = new[: row.limit - before]
        at = next((i for i, token in enumerate(taken) if token in self.ends), None)
        if at is not None:
            taken, row.finished = taken[: at + 1], "end"
        row.tokens += taken
        if self.stops and self._stopped(row.tokens):
            sizes = range(before + 1, len(row.tokens) + 1)
            del row.tokens[next(size for size in sizes if self._stopped(row.tokens[:size])) :]
            row.finished = "stop"
        elif row.finished is None and len(row.tokens) == row.limit:
            row.finished = "length"
        return row.tokens[before:]

    def _stopped(self, tokens: Sequence[int]) -> bool:
        text = self.decode(tokens)
        return any(stop in text for stop in self.stops)


class Transcript:
    """Tokens and texts by prompt, and the counts of the last line."""

    def __init__(self, target: Model, prompts: Sequence[str], stop: Sequence[str]) -> None:
        self.decode, self.stop = target.tokenizer.decode, stop
        self.prompts = prompts
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = 0
        self.printed = 0  # characters of a single text
        self.error: str | None = None

    @property
    def tokens(self) -> int:
        """Tokens emitted in all."""
        return sum(map(len, self.ids))

    @property
    def block_efficiency(self) -> float:
        """Mean over rows and steps of accepted tokens plus the extra one; a last step counts uncut."""
        return 1 + self.accepted / self.row_steps if self.row_steps else 0.0

    def add(self, step: Step) -> str:
        """Adds a step; returns what can now be shown: one text's growth, or the finished texts of a batch."""
        self.steps += 1
        self.row_steps += len(step.rows)
        self.accepted += sum(step.accepted)
        for row, tokens, why in zip(step.rows, step.emitted, step.finished, strict=True):
            self.ids[row] += tokens
            self.finished[row] = why
        if len(self.prompts) > 1:
            return "".join(self._whole(row) for row in step.rows if self.finished[row] is not None)
        text = self.text(0)
        if self.finished[0] is None:  # a stop string or a character may be incomplete
            hold = max((len(stop) - 1 for stop in self.stop), default=0)
            text = text[: len(text) - hold].rstrip(UNFINISHED)
        new = text[self.printed :]
        self.printed += len(new)
        return new

    def rest(self) -> str:
        """What has not been shown when the run is over, early or not."""
        if len(self.prompts) == 1:
            return self.text(0)[self.printed :]
        return "".join(self._whole(row) for row, why in enumerate(self.finished) if why is None)

    def text(self, row: int) -> str:
        """A row's text, without its end token, and up to a stop string."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        found = [text.index(stop) for stop in self.stop if stop in text]
        return text[: min(found)] if found else text

    def answer(self) -> dict[str, Any]:
        """Texts and counts as JSON."""
        rows = enumerate(zip(self.prompts, self.ids, self.finished, strict=True))
        return {
            "outputs": [
                {"prompt": prompt, "text": self.text(row), "tokens": ids, "finished": why}
                for row, (prompt, ids, why) in rows
            ],
            "tokens": self.tokens,
            "steps": self.steps,
            "block_efficiency": round(self.block_efficiency, 4),
            "error": self.error,
        }

    def _whole(self, row: int) -> str:
        return f"--- {row + 1}: {self.prompts[row]!r}\n{self.text(row)}\n"
