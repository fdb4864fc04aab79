"""Cells of a row's tokens: classes of p / q, as theory/values/optimal_classes.py has them, and strata.

Class 0 has the largest ratios. The place of a token in its row's strata is j + f if f of the token is in
stratum j + 1 and the rest in stratum j; f is 0 but for the few tokens that two strata share. q is the
siblings' own row; with strata it is their mean times their number.
"""

import torch
from torch import Tensor

from draftproof.theory.values.optimal_classes import classes as count


def edges(classes: int, device: torch.device) -> Tensor:
    """[classes], float64: the lower edges."""
    k = torch.arange(classes - 1, -1, -1, device=device).double()
    return k / (classes - k)


def split(p: Tensor, q: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The class of each token, and the part of q that is in the place of its upper edge; none in class 0."""
    both = p + q
    part = (p / both).nan_to_num_(0.0).mul_(classes)
    k = part.floor().clamp_(max=classes - 1)
    kind = classes - 1 - k
    return kind.long(), torch.minimum((part - k).mul_(kind).mul_(both).div_(classes), q)


def sums(p: Tensor, q: Tensor, places: Tensor | None, groups: int) -> Tensor:
    """[2, B, classes, groups], float64: of the tokens of each class and stratum, what of q [B, V] is in the
    place of the upper edge, and what in that of the lower one. The highest class has no upper edge: instead
    of it what of p is above the lower one.
    """
    classes = count(places is not None, p.shape[1])
    cell, taken = split(p, q, classes)
    rows = torch.where(cell > 0, taken, (p - (classes - 1) * q).clamp(min=0)), q - taken
    if places is not None:
        cell.mul_(groups).add_(places.long())
    found = torch.stack([_binned(cell, row, classes * groups) for row in rows])
    if places is not None and groups > 1:
        f, x = _shared(places, groups)
        cell = cell.gather(1, x).expand(2, -1, -1)
        moved = torch.stack([row.gather(1, x) * f for row in rows]).double()
        found.scatter_add_(2, cell, -moved).scatter_add_(2, cell + (f > 0), moved)
        found.clamp_(min=0)
    return found.view(2, len(p), classes, groups)


def left(p: Tensor, q: Tensor, places: Tensor | None, cut: Tensor) -> Tensor:
    """[B, V], not normalised: what remains of p, where of a place's mass the part cut [B, classes, groups]
    does. Above the highest edge all of p remains.
    """
    classes, groups = cut.shape[1:]
    kind, taken = split(p, q, classes)
    over = (p - (classes - 1) * q).clamp(min=0)
    cut = cut.flatten(1)

    def remains(cell: Tensor, taken: Tensor, q: Tensor) -> Tensor:
        return (q - taken) * cut.gather(1, cell) + taken * cut.gather(1, (cell - groups).clamp(min=0))

    if places is None or groups == 1:
        return remains(kind, taken, q) + over
    cell = torch.add(places.long(), kind, alpha=groups)
    row = remains(cell, taken, q)
    f, x = _shared(places, groups)
    second = remains(cell.gather(1, x) + (f > 0), *(each.gather(1, x) for each in (taken, q)))
    return row.scatter(1, x, torch.lerp(row.gather(1, x), second, f.to(p))) + over


def _shared(places: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """(f, x), both [B, groups - 1] or fewer: the tokens that two strata share, and how much of each is in the
    second; f is 0 for what is not shared. The selection of one number is much faster than that of two.
    """
    f = places.frac()
    return f.max(1, keepdim=True) if groups == 2 else f.topk(min(groups - 1, f.shape[1]))


def _binned(cell: Tensor, row: Tensor, cells: int) -> Tensor:
    # Float32 sums of few terms, and of those a float64 sum.
    B, V = row.shape
    parts = 32 if V % 32 == 0 and V >= 8192 else 1
    found, size = row.new_zeros(B, parts, cells), (parts, V // parts)
    return found.scatter_add_(2, cell.unflatten(1, size), row.unflatten(1, size)).double().sum(1)
