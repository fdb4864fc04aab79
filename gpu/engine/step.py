"""The record of one step, which is all that the engine hands out."""

from dataclasses import dataclass

from torch import Tensor

from gpu.draft import Tree
from gpu.verify import Outcome


@dataclass(frozen=True)
class Step:
    """All there is to know about one step; tensors have a row for each entry of `rows`.

    rows: which prompts are still going, at the start of the step. target [B, N, V] and proposal
    [B, I, V] (None for a draft without chance) are what the verifier saw, coins [B, N - 1] and extra
    [B] its noise. accepted: drafted tokens accepted. emitted: the tokens added to each row, cut where
    it ended. finished: why, or None. seconds: of the phases draft, target, verify and rest.
    """

    rows: list[int]
    tree: Tree
    target: Tensor
    proposal: Tensor | None
    tokens: Tensor
    coins: Tensor
    extra: Tensor
    outcome: Outcome
    accepted: list[int]
    emitted: list[list[int]]
    finished: list[str | None]
    seconds: dict[str, float]
