"""Strata of many rows at once and a token of each, without a sort of the vocabulary; see theory/strata.py.

A row's tokens lie on a line of length n, each as long as it is likely to be included; stratum j is the part
from j to j + 1. Only the likeliest `ORDERED` tokens are put in order. The others lie behind them by id.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

ORDERED = 1024
"""The number of tokens that are sorted. Shorter rows have exactly the strata of theory/strata.py."""


def stratified(rows: Tensor, most: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(mean [R, V], places [R, V], tokens [R, K]): the strata of rows [R, V], and one token of each.

    A row has most [R] <= K strata, or one for each token if it has fewer tokens; `mean` is their mean. A
    token of which f is in stratum j + 1 and the rest in stratum j has the place j + f. u [R, K] are uniforms;
    tokens are -1 where there is no stratum.

    >>> third = torch.full((1, 3), 1 / 3)
    >>> mean, places, tokens = stratified(third, torch.tensor([2]), torch.tensor([[0.9, 0.0]]))
    >>> places.tolist(), tokens.tolist()
    ([[0.0, 0.5, 1.0]], [[1, 1]])
    """
    V, K = rows.shape[1], u.shape[1]
    if max(ORDERED, K) >= V:
        size, ids = rows.sort(dim=1, descending=True, stable=True)
    else:
        size, ids = rows.topk(max(ORDERED, K), 1)
    size, others = size.double(), rows.double().scatter_(1, ids, 0.0).cumsum_(1)
    rest = pad(size.flip(1).cumsum(1).flip(1), (0, 1)) + others[:, -1:]  # from each of the sorted tokens on
    n = torch.minimum(most, (size > 0).sum(1))[:, None]
    place = torch.arange(size.shape[1], device=rows.device)
    sure = ((n > place) & ((n - place) * size >= rest[:, :-1])).long().cumprod(1).sum(1, keepdim=True)
    mass = rest.gather(1, sure)
    factor = torch.where(mass > 0, (n - sure) / torch.where(mass > 0, mass, 1.0), 0.0)
    pi = torch.where(place < sure, 1.0, factor * size)
    ends = pi.cumsum(1)
    length = ends[:, -1:]
    behind = factor * others[:, -1:]

    whole = torch.arange(K, device=rows.device).expand(len(rows), -1)
    at = torch.cat((whole + u.double(), whole[:, 1:]), 1)  # the K draws, then the K - 1 cuts
    among = (at < length) | (behind <= 0)
    i = torch.searchsorted(ends, torch.minimum(at, _below(length)), right=True)
    back = (at - length) / torch.where(factor > 0, factor, 1.0)
    x = torch.searchsorted(others, torch.minimum(back.clamp(min=0), _below(others[:, -1:])), right=True)
    x = x.clamp(max=V - 1)
    token = torch.where(among, ids.gather(1, i), x)
    tokens = torch.where(whole < n, token[:, :K], -1)

    mean = (rows * (factor / n).to(rows)).scatter_(1, ids, (pi / n).to(rows))
    cut, among, i, x = token[:, K:], among[:, K:], i[:, K:], x[:, K:]
    last = torch.where(among, ends.gather(1, i), length + factor * others.gather(1, x))
    part = torch.where(among, pi.gather(1, i), factor * rows.gather(1, x))
    beyond = ((last - whole[:, 1:]) / part).clamp(0, 1) + whole[:, :-1]
    real = whole[:, 1:] < n
    places = rows.new_zeros(len(rows), V + 1)  # the last is dropped
    places = places.scatter_add_(1, torch.where(among, 0, x + 1), real.to(rows)).cumsum_(1)
    first = torch.minimum(pad(ends, (1, 0))[:, :-1].floor(), n - 1.0)
    places.scatter_(1, ids, first.to(rows))
    places.scatter_(1, torch.where(real, cut, V), beyond.to(rows))
    return mean, places[:, :V].contiguous(), tokens


def _below(number: Tensor) -> Tensor:
    return torch.nextafter(number, torch.zeros_like(number))
