"""The record of one step, which is all that the engine hands out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.verify import Outcome


@dataclass(frozen=True)
class Step:
    """All there is to know about one step; tensors have a row for each entry of `rows`.

    rows: which prompts are still going, at the start of the step. logits [B, N, V] are the target's,
    proposal [B, I, V] (None for a draft without chance) the rows of the drafter, coins [B, N - 1] and
    extra [B] the verifier's noise. used: the target's rows, if they were made: kernels do without.
    accepted: drafted tokens accepted. emitted: the tokens added to each row, cut where it ended.
    finished: why, or None. seconds: of the phases draft, target, verify and rest.
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
        """The target's rows [B, N, V]: those that the verifier saw."""
        return self.sampling.rows(self.logits) if self.used is None else self.used


def texts(steps: Iterable[Step], count: int) -> list[list[int]]:
    """The tokens that steps emitted for each of so many prompts."""
    found: list[list[int]] = [[] for _ in range(count)]
    for step in steps:
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            found[row] += tokens
    return found
