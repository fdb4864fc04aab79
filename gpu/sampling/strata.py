"""The strata of many rows at once and a token of each; their exact form is theory/shared/strata.py.

A row's tokens lie on a line of length n, the likeliest first, each as long as it is likely to be included;
stratum j is the part from j to j + 1.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad


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
    size, ids = rows.sort(dim=1, descending=True, stable=True)
    size, V, K = size.double(), rows.shape[1], u.shape[1]
    rest = pad(size.flip(1).cumsum(1).flip(1), (0, 1))  # from each token on
    n = torch.minimum(most, (size > 0).sum(1))[:, None]
    place = torch.arange(V, device=rows.device)
    sure = ((n > place) & ((n - place) * size >= rest[:, :-1])).long().cumprod(1).sum(1, keepdim=True)
    mass = rest.gather(1, sure)
    factor = torch.where(mass > 0, (n - sure) / torch.where(mass > 0, mass, 1.0), 0.0)
    pi = torch.where(place < sure, 1.0, factor * size)
    ends = pi.cumsum(1)
    length = ends[:, -1:]

    whole = torch.arange(K, device=rows.device).expand(len(rows), -1)
    at = torch.cat((whole + u.double(), whole[:, 1:]), 1)  # the K draws, then the K - 1 cuts
    below = torch.nextafter(length, torch.zeros_like(length))
    i = torch.searchsorted(ends, torch.minimum(at, below), right=True)
    token = ids.gather(1, i)
    tokens = torch.where(whole < n, token[:, :K], -1)

    mean = torch.empty_like(rows).scatter_(1, ids, (pi / n).to(rows))
    cut, i = token[:, K:], i[:, K:]
    beyond = (ends.gather(1, i) - whole[:, 1:]) / pi.gather(1, i)
    beyond = (beyond.clamp(0, 1) + whole[:, :-1]).to(rows)
    real = whole[:, 1:] < n
    first = torch.minimum(pad(ends, (1, 0))[:, :-1].floor(), n - 1.0)
    places = torch.empty_like(rows).scatter_(1, ids, first.to(rows))
    beyond = torch.where(n > 1, beyond, places.gather(1, cut))
    places.scatter_(1, torch.where(real, cut, cut[:, :1]), torch.where(real, beyond, beyond[:, :1]))
    return mean, places, tokens
