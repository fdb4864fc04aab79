"""Draws without replacement: the chance that a token, or anything beside a set of tokens, is among k of them.

Draws in turn are the order in which independent exponential times with rates q arrive (Plackett and Luce).
Let Q be the mass beside a set, c_j(t) the chance that exactly j of the set have arrived by t. The first of
the others arrives at t, after j of the set, with density Q exp(-Q t) c_j(t), so

    Pr(k draws are not all in the set) = Q (I_0 + ... + I_{k-1}),   I_j = integral of exp(-Q t) c_j(t) dt.

The first two are Q and Q sum q_y / (1 - q_y); the others are integrated over log t. All terms are positive.
"""

from collections.abc import Callable

import torch
from torch import Tensor

STEP = 0.3
"""Of the trapezoidal rule in log t: its error falls as exp(-pi^2 / STEP), and stays below 1e-11."""

SMALLEST, LARGEST = -10.0, 28.0
"""log t of the first node, and the exponent at the last: exp(-28) and t^3 are below 1e-12."""

CHUNK = 2**15
"""Numbers in one table of the integral at once: few enough to stay in a cache."""


def escapes(q: Tensor, most: int) -> Tensor:
    """[..., V + 1, most]: entry (n, k - 1) is the chance that k draws from q are not all among its first n
    tokens. Float64; q [..., V] holds masses, zeros among them, that are normalised here.

    >>> escapes(torch.tensor([0.5, 0.25, 0.25]), 2)[1:3].tolist()
    [[0.5, 1.0], [0.25, 0.5833333333333333]]
    """
    q, odds = _normalised(q)
    none = torch.zeros_like(q[..., :1])
    off = torch.cat((q.flip(-1).cumsum(-1).flip(-1), none), -1)
    parts = [off, off * torch.cat((none, odds.cumsum(-1)), -1)]
    if most > 2:
        later = _integrals(_rows(q), _rows(off)[:, 1:], most, _scan)
        parts += [torch.cat((none, part.view(q.shape)), -1) for part in later]
    return torch.stack(parts[:most], -1).cumsum(-1).clamp(max=1)


def included(q: Tensor, x: Tensor, most: int) -> Tensor:
    """[..., most]: the chances that token x [...] is among the first 1, 2, ..., most draws from q [..., V].

    >>> included(torch.tensor([0.5, 0.25, 0.25]), torch.tensor(2), 2).tolist()
    [0.25, 0.5833333333333333]
    """
    q, odds = _normalised(q)
    x = x[..., None]
    off = q.gather(-1, x)
    others = q.scatter(-1, x, 0.0)
    parts = [off[..., 0], (off * odds.scatter(-1, x, 0.0).sum(-1, keepdim=True))[..., 0]]
    if most > 2:
        later = _integrals(_rows(others), _rows(off), most, _whole)
        parts += [part.view(parts[0].shape) for part in later]
    return torch.stack(parts[:most], -1).cumsum(-1).clamp(max=1)


def _normalised(q: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of mass 1 in float64, and q_y / (1 - q_y), 0 where there is no other token."""
    q = q.double()
    q = q / q.sum(-1, keepdim=True)
    none = torch.zeros_like(q[..., :1])
    before, behind = q.cumsum(-1)[..., :-1], q.flip(-1).cumsum(-1).flip(-1)[..., 1:]
    others = torch.cat((none, before), -1) + torch.cat((behind, none), -1)
    return q, torch.where(others > 0, q / others, 0.0)


def _rows(values: Tensor) -> Tensor:
    return values.reshape(-1, values.shape[-1])


def _integrals(
    q: Tensor, off: Tensor, most: int, count: Callable[[Tensor, Tensor, int], list[Tensor]]
) -> list[Tensor]:
    """Q I_2 ... Q I_{most - 1} of sets of tokens of q [R, V], the mass beside which is Q, off [R, n]."""
    rest = q.sort(-1).values[:, : 1 - most].sum(-1)  # beside the likeliest most - 1: what is still to arrive
    least = torch.where(q > 0, q, 1.0).amin(-1)
    last = float((LARGEST / torch.where(rest > 0, rest, least).min()).log())
    logs = torch.arange(SMALLEST, last + STEP, STEP, dtype=q.dtype, device=q.device)
    sums = off.new_zeros(most - 2, *off.shape)
    for some in logs.split(max(1, CHUNK // q.numel())):
        t = some.exp()[:, None, None]
        density = STEP * t * off * torch.exp(-off * t)
        arrived = count(-torch.expm1(-q * t), torch.exp(-q * t), most)[2:]
        for total, chance in zip(sums, arrived, strict=True):
            total += (density * chance).sum(0)
    return list(sums)


def _scan(there: Tensor, missing: Tensor, most: int) -> list[Tensor]:
    """[..., V] each: the chances that 0, ..., most - 1 of the first n tokens are there, n = 1 ... V."""
    found = _each(there, missing, most)
    reach = 1
    while reach < there.shape[-1]:
        joined = _times([each[..., reach:] for each in found], [each[..., :-reach] for each in found])
        found = [torch.cat((each[..., :reach], new), -1) for each, new in zip(found, joined, strict=True)]
        reach *= 2
    return found


def _whole(there: Tensor, missing: Tensor, most: int) -> list[Tensor]:
    """[..., 1] each: the same of all V tokens."""
    found = _each(there, missing, most)
    while (width := found[0].shape[-1]) > 1:
        joined = _times(
            [each[..., : width // 2 * 2 : 2] for each in found], [each[..., 1::2] for each in found]
        )
        odd = [each[..., width // 2 * 2 :] for each in found]
        found = [torch.cat(both, -1) for both in zip(joined, odd, strict=True)]
    return found


def _each(there: Tensor, missing: Tensor, most: int) -> list[Tensor]:
    return [missing, there, *[torch.zeros_like(there)] * (most - 2)]


def _times(one: list[Tensor], other: list[Tensor]) -> list[Tensor]:
    """Products of polynomials by their coefficients, higher ones left out."""
    found = [one[0] * each for each in other]
    for j, total in enumerate(found):
        for i in range(1, j + 1):
            total.addcmul_(one[i], other[j - i])
    return found
