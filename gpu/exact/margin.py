"""How far rounding can move a rate or a cumulative sum."""

from collections.abc import Callable

import torch
from torch import Tensor

from draftproof.gpu.exact.drafts import remainders
from draftproof.gpu.verify import Drafts, Verifier

UNIT = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-9}
"""Unit roundoff."""

STEPS = 64
"""Roundings on the way to one output, with room to spare: at most ten a rejection, six rejections."""

TRIES = 8

SMALLEST = 2.0**-126
"""The smallest normal float32: what is below it may be rounded to few digits, or to 0."""


def margins(outputs: Callable[[Drafts], Tensor], rows: Drafts, unit: float | Tensor) -> Tensor:
    """[B, M]: by how much each of outputs(rows) [B, M] can be off in arithmetic of that unit roundoff.

    `unit` is one number, or [B, 1, 1] for rows whose entries came with larger errors.

    Each operation of a verifier is backward stable entry by entry: it gives the exact result for
    rows whose entries are changed by a relative `unit`, and by SMALLEST where they underflow. So an
    output is off by at most STEPS times what such a change does to it. That is measured in float64, as
    the largest effect of random signs on all entries at once; unlike a derivative it also sees both
    sides of a kink, such as p = q.
    """
    random = torch.Generator().manual_seed(0)

    def nudged(row: Tensor) -> Tensor:
        signs = torch.randint(0, 2, row.shape, generator=random).to(row) * 2 - 1
        return (row * (1 + unit * signs) + SMALLEST * signs * (row > 0)).clamp(min=0)

    y = outputs(rows)
    swing = y.abs() * (unit[..., 0] if isinstance(unit, Tensor) else unit)
    for _ in range(TRIES):
        swing = torch.maximum(swing, (outputs(rows.map_rows(nudged)) - y).abs())
    return STEPS * (swing + SMALLEST)


def rates_and_sums(verifier: Verifier, rows: Drafts) -> Tensor:
    """[B, N + N V]: the rate of every node, then the cumulative law of Y at every node."""
    rates = verifier.rates(rows)
    left = remainders(rows, rates.cut)
    return torch.cat((rates.accept, (left.cumsum(-1) / left.sum(-1, keepdim=True)).flatten(1)), 1)
