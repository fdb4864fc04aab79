"""Cells of a row's tokens: classes of p / q, as theory/values/priority_classes.py has them, and strata.

The place of a token in its row's strata is j + f if f of the token is in stratum j + 1 and the rest in
stratum j; f is 0 but for the few tokens that two strata share. q is then the mean of the siblings' rows.
"""

import torch
from torch import Tensor

from draftproof.theory.values.priority_classes import CLASSES, EDGES, HIGHEST, PARTS, SHIFT

LOW = tuple(float(edge) for edge in EDGES)
HIGH = (float("inf"), *LOW[:-1])
"""The edges of each class of p / q."""

ON_CPU = torch.tensor([LOW, HIGH], dtype=torch.float64)

FACTOR = float(SHIFT)

HEAD = {torch.float32: (torch.int32, 20, 127), torch.float64: (torch.int64, 49, 1023)}
"""For each type of float: the integer type of its size, the number of bits to drop to keep the exponent and
log2 PARTS digits, and the exponent of 1."""


def class_edges(device: torch.device) -> Tensor:
    """[2, CLASSES], float64: LOW and HIGH."""
    return ON_CPU if device.type == "cpu" else edges_made_on(device)


def edges_made_on(device: torch.device) -> Tensor:
    """The same, computed on the device, since a copy would wait for it."""
    number = torch.arange(CLASSES, device=device)
    k = HIGHEST * PARTS - number
    low = (
        (1 + k.remainder(PARTS).double() / PARTS)
        * 2.0 ** k.div(PARTS, rounding_mode="floor").double()
        / FACTOR
    )
    low = torch.where(number == CLASSES - 1, 0.0, low)
    return torch.stack((low, torch.where(number == 0, torch.inf, low.roll(1))))


def classes(p: Tensor, q: Tensor) -> Tensor:
    """The class of each token, as int32. That of a token with q = 0 does not matter."""
    integer, dropped, one = HEAD[p.dtype]
    head = (p / q).mul_(FACTOR).view(integer).bitwise_right_shift_(dropped)
    return head.neg_().add_(PARTS * (one + HIGHEST)).clamp_(0, CLASSES - 1).int()


def slope(cut: Tensor, low: float | Tensor, high: float | Tensor) -> Tensor:
    """How far the cut is from the lower to the upper edge of its class, from 0 to 1."""
    return ((cut - low) / (high - low)).clamp(0, 1)


def kept(p: Tensor, q: Tensor, cut: Tensor, low: float | Tensor, high: float | Tensor) -> Tensor:
    """What a cut keeps of p: at most min(p, cut q), and linear in p and q, so that sums give sums."""
    return cut.clamp(max=low) * q + slope(cut, low, high) * (p - low * q)


def sums(p: Tensor, q: Tensor, places: Tensor | None, groups: int) -> Tensor:
    """[2, B, CLASSES, groups], float64: the masses of p and q [B, V] in each class and stratum."""
    cell = classes(p, q)
    if places is not None:
        cell.mul_(groups).add_(places.int())
    cell = cell.long()
    found = torch.stack([_binned(cell, row, CLASSES * groups) for row in (p, q)])
    if places is not None and groups > 1:
        f, x = _shared(places, groups)
        cell = cell.gather(1, x).expand(2, -1, -1)
        moved = torch.stack([row.gather(1, x) * f for row in (p, q)]).double()
        found.scatter_add_(2, cell, -moved).scatter_add_(2, cell + (f > 0), moved)
        found.clamp_(min=0)
    return found.view(2, len(p), CLASSES, groups)


def rest(p: Tensor, q: Tensor, cut: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """p without what the cut keeps, as a sum of what is not negative."""
    return (1 - slope(cut, low, high)) * (p - low * q).clamp(min=0) + (low - cut).clamp(min=0) * q


def left(p: Tensor, q: Tensor, places: Tensor | None, cut: Tensor) -> Tensor:
    """[B, V], not normalised: p without what the cuts [B, CLASSES, groups] of its cells keep."""
    kind, ends, groups = classes(p, q).long(), class_edges(p.device).to(p), cut.shape[2]
    cell = kind * groups if places is None else torch.add(places.long(), kind, alpha=groups)
    row = rest(p, q, cut.flatten(1).gather(1, cell), *ends[:, kind])
    if places is None or groups == 1:
        return row
    f, x = _shared(places, groups)
    p, q, kind, cell = (each.gather(1, x) for each in (p, q, kind, cell))
    second = rest(p, q, cut.flatten(1).gather(1, cell + (f > 0)), *ends[:, kind])
    return row.scatter(1, x, torch.lerp(row.gather(1, x), second, f.to(p)))


def _shared(places: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """(f, x), both [B, groups - 1] or fewer: the tokens that two strata share, and how much of each is in the
    second; f is 0 for what is not shared. The selection of one number is much faster than that of two.
    """
    f = places.frac()
    return f.max(1, keepdim=True) if groups == 2 else f.topk(min(groups - 1, f.shape[1]))


def _binned(cell: Tensor, row: Tensor, cells: int) -> Tensor:
    # Float32 sums of few terms, and of those a float64 sum.
    B, V = row.shape
    parts = 64 if V % 64 == 0 and V >= 8192 else 1
    found, size = row.new_zeros(B, parts, cells), (parts, V // parts)
    return found.scatter_add_(2, cell.unflatten(1, size), row.unflatten(1, size)).double().sum(1)
