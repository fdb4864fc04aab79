"""Draws without replacement: the chance that a token, or anything beside a set of tokens, is among k of them.

Draws in turn are the order in which independent exponential times with rates q arrive (Plackett and Luce).
Let Q be the mass beside a set, c_j(t) the chance that exactly j of the set have arrived by t. The first of
the others arrives at t, after j of the set, with density Q exp(-Q t) c_j(t), so

    Pr(k draws are not all in the set) = Q (I_0 + ... + I_{k-1}),   I_j = integral of exp(-Q t) c_j(t) dt.

The first two are Q and Q sum q_y / (1 - q_y); the others are integrated over log t. exp(-Q t) c_j(t) is
exp(-t) times the j-th elementary symmetric polynomial of exp(q_y t) - 1, y in the set. The k - 1 likeliest
tokens would make that overflow and are kept apart, by which of them have arrived. All terms are positive.
"""

from itertools import product
from math import ceil

import torch
from torch import Tensor
from torch.nn.functional import pad

STEP = 0.3
"""Of the trapezoidal rule in log t: its error falls as exp(-pi^2 / STEP), and stays below 1e-11."""

SMALLEST, LARGEST = -10.0, 40.0
"""log t at the lowest node, the exponent at the last: t^3 and 40^4 exp(-40) / 4! are below 1e-12."""

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
        later = _integrals(_rows(q), _rows(off)[:, 1:], most, slice(None))
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
    parts = [off[..., 0], (off * odds.scatter(-1, x, 0.0).sum(-1, keepdim=True))[..., 0]]
    if most > 2:
        behind = torch.cat((q.scatter(-1, x, q[..., -1:])[..., :-1], off), -1)  # x goes last
        later = _integrals(_rows(behind), _rows(off), most, slice(-2, -1))
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


def _integrals(q: Tensor, off: Tensor, most: int, which: slice) -> list[Tensor]:
    """Q I_2 ... Q I_{most - 1} of sets of the first 1, ..., V tokens of q [R, V], of which `which` picks n;
    off [R, n] is Q, the mass beside each.
    """
    rates, likeliest = q.topk(min(most - 1, q.shape[-1]))
    light = q.scatter(-1, likeliest, 0.0)
    rest, least = light.sum(-1, keepdim=True), torch.where(q > 0, q, 1.0).amin(-1, keepdim=True)
    last = (LARGEST / torch.where(rest > 0, rest, least)).log()
    turns = torch.arange(ceil((float(last.max()) - SMALLEST) / STEP) + 1, dtype=q.dtype, device=q.device)
    among = torch.arange(q.shape[-1], device=q.device)[which] >= likeliest[..., None]  # [R, k - 1, n]
    sums = off.new_zeros(most, *off.shape)
    for some in turns.split(max(1, CHUNK // q.numel())):
        t = (last - STEP * some).exp()  # [R, T]
        density = STEP * t * torch.exp(-rest * t)
        due = -rates[..., None] * t[:, None]
        there, missing = -torch.expm1(due), torch.exp(due)
        parts = [each[..., which] for each in _symmetric(torch.expm1(light[:, None] * t[..., None]), most)]
        for come in product((False, True), repeat=rates.shape[-1]):  # which of the likeliest
            weight, inside = density, torch.ones_like(off)
            for h, comes in enumerate(come):
                weight = weight * (there if comes else missing)[:, h]
                inside = inside * among[:, h] if comes else inside
            for j in range(max(2, sum(come)), most):
                sums[j] += inside * (weight[:, None] @ parts[j - sum(come)])[:, 0]
    return list(off * sums[2:])


def _symmetric(values: Tensor, most: int) -> list[Tensor]:
    """[..., V] each: the elementary symmetric polynomials 0 ... most - 1 of the first 1, 2, ... values."""
    found = [torch.ones_like(values), values.cumsum(-1)]
    while len(found) < most:
        found.append(pad(values[..., 1:] * found[-1][..., :-1], (1, 0)).cumsum(-1))
    return found
