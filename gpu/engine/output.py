"""The output of a run: a record of each step, the texts, and the rule for when a text is finished."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import Drafts


@dataclass(frozen=True)
class Step:
    """The record of one step; tensors have a row for each entry of `rows`, the prompts that had not ended.

    logits [B, N, V] are the target's, processed.
    accepted: number of drafted tokens accepted. emitted: the tokens added to each row, up to where its text
    ended. finished: "end", "stop", "length" or None. seconds: time of the phases draft, target, verify and
    rest.

    kept: with a selection, how many drafted tokens of each row the target read. The next drafted token is
    judged too; if it is accepted, it is the extra token.
    """

    rows: list[int]
    draft: Draft
    sampling: Sampling
    logits: Tensor
    accepted: list[int]
    emitted: list[list[int]]
    finished: list[str | None]
    seconds: dict[str, float]
    kept: list[int] | None = None

    @cached_property
    def drafts(self) -> Drafts:
        """What the verifier was given, without its noise, as rows."""
        target, draft = self.sampling.rows(self.logits), self.draft
        return Drafts(draft.tree, target, draft.proposal, draft.tokens, strata=draft.strata)


def texts(steps: Iterable[Step], count: int) -> list[list[int]]:
    """The tokens that steps emitted for each of `count` prompts."""
    found: list[list[int]] = [[] for _ in range(count)]
    for step in steps:
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            found[row] += tokens
    return found


class Transcript:
    """Tokens and texts by prompt, and the counts of the last line of `gpu generate`."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], prompts: Sequence[str], stop: Sequence[str]
    ) -> None:
        self.decode, self.prompts, self.stop = decode, prompts, stop
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = self.verified = 0
        self.error: str | None = None

    def keep(self, step: Step) -> None:
        """Adds a step."""
        self.steps += 1
        self.row_steps += len(step.rows)
        self.accepted += sum(step.accepted)
        self.verified += sum(step.kept or ())
        for row, tokens, why in zip(step.rows, step.emitted, step.finished, strict=True):
            self.ids[row] += tokens
            self.finished[row] = why

    def text(self, row: int) -> str:
        """A row's text up to its stop string, without its end token."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        return text[: min((text.index(stop) for stop in self.stop if stop in text), default=len(text))]


class Texts:
    """All texts of a run; `going` are the numbers of those that are decoded now.

    A text ends when it has as many tokens as `limits` allows, after a token in `ends`, or where one of the
    strings `stops` appears in its decoded tokens.
    """

    def __init__(
        self,
        limits: Sequence[int],
        ends: frozenset[int],
        stops: Sequence[str],
        decode: Callable[[Sequence[int]], str],
    ) -> None:
        self.limits, self.ends, self.stops, self.decode = limits, ends, stops, decode
        self.tokens: list[list[int]] = [[] for _ in limits]
        self.going = list(range(len(limits)))

    def take(self, words: Sequence[list[int]]) -> tuple[list[list[int]], list[str | None], list[int]]:
        """Adds a step's tokens to the texts that have not ended. Returns the tokens added to each, why it
        ended (or None), and the indices of the texts that continue.
        """
        both = [self._add(number, word) for number, word in zip(self.going, words, strict=True)]
        added, finished = map(list, zip(*both, strict=True))
        stay = [place for place, why in enumerate(finished) if why is None]
        self.going = [self.going[place] for place in stay]
        return added, finished, stay

    def _add(self, number: int, new: list[int]) -> tuple[list[int], str | None]:
        tokens = self.tokens[number]
        for count, token in enumerate(new, 1):
            tokens.append(token)
            text = self.decode(tokens) if self.stops else ""
            if any(stop in text for stop in self.stops):
                return new[:count], "stop"
            if token in self.ends:
                return new[:count], "end"
            if len(tokens) == self.limits[number]:
                return new[:count], "length"
        return new, None
