"""Effects of rounding on a verifier: bounds on its outputs' errors."""

from collections.abc import Callable

import torch
from torch import Tensor

from draftproof.gpu.verify import Drafts, Rates, Verifier

UNIT = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-9}  # roundoff

STEPS = 64
"""A generous count of the roundings before one output: at most ten per rejection, six rejections."""

SMALLEST = 2.0**-126
"""The smallest normal float32: smaller numbers may be rounded to few digits, or to 0."""


def margins(outputs: Callable[[Drafts], Tensor], rows: Drafts, unit: float | Tensor) -> Tensor:
    """[B, M]: the largest error that each of outputs(rows) [B, M] can have in arithmetic of roundoff `unit`.

    `unit` is one number, or [B, 1, 1] if the rows' entries already have larger errors.

    Each operation of a verifier is backward stable entry by entry: it gives the exact result for rows whose
    entries are changed by a relative `unit`, and by SMALLEST where they underflow. So the error of an output
    is at most STEPS times the effect of such a change. The effect is measured in float64: all entries are
    changed at once by random amounts, eight times, and the largest effect is taken. Unlike a derivative this
    also sees both sides of a kink, such as p = q; equal amounts could cancel in a ratio of few entries. Rows
    that already have errors may share one in all entries, as a softmax whose sum is off: then each row as a
    whole is changed by such an amount too. What is left of 1, such as the chance that no sibling has spoken,
    is taken in float64, and 0 may become its roundoff.
    """
    random = torch.Generator().manual_seed(0)

    def amounts(row: Tensor, shape: tuple[int, ...]) -> Tensor:
        sign = torch.randint(0, 2, shape, generator=random).to(row) * 2 - 1
        return sign * (1 + torch.rand(shape, generator=random).to(row)) / 2  # 1/2 to 1

    def nudged(row: Tensor) -> Tensor:
        amount = amounts(row, row.shape)
        if isinstance(unit, Tensor):
            amount = amount + amounts(row, (*row.shape[:-1], 1))
        return (row * (1 + unit * amount) + SMALLEST * amount * (row > 0)).clamp(min=0)

    y = outputs(rows)
    swing = y.abs() * (unit[..., 0] if isinstance(unit, Tensor) else unit)
    for _ in range(8):
        swing = torch.maximum(swing, (outputs(rows.map_rows(nudged)) - y).abs())
    return STEPS * (swing + UNIT[torch.float64])


def rates_and_rows(verifier: Verifier, rows: Drafts) -> tuple[Rates, Tensor]:
    """The rates, and the law of the extra token after a stop at each node [B, N, V], not normalised."""
    rates, B = verifier.rates(rows), len(rows.target)
    nodes = [torch.full((B,), node, device=rows.target.device) for node in range(rows.tree.size)]
    return rates, torch.stack([verifier.left(rows, rates.cut, node) for node in nodes], 1)


def rates_and_sums(verifier: Verifier, rows: Drafts) -> Tensor:
    """[B, N + N V]: each node's acceptance probability; the extra token's cumulative law after each stop."""
    rates, left = rates_and_rows(verifier, rows)
    return torch.cat((rates.accept, (left.cumsum(-1) / left.sum(-1, keepdim=True)).flatten(1)), 1)
