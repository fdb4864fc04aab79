"""Strata of many rows at once and a token of each, without a sort of V tokens (theory/shared/strata.py).

A row's tokens lie on a line of length n, each as long as it is likely to be included; stratum j is the part
from j to j + 1. Of a long row only the likeliest `ORDERED` tokens are put in order; the others lie behind
them by id, and their line is looked up in two steps: the sums of `CHUNK` tokens each, then one chunk.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

WHOLE = 1024
"""Rows of at most as many tokens are sorted whole and have the strata of theory/shared/strata.py."""
ORDERED = 64
"""As many tokens of longer rows are sorted. Other numbers gave the same acceptance."""
CHUNK = 256


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
    if max(WHOLE, K) >= V:
        size, ids = rows.sort(dim=1, descending=True, stable=True)
    else:
        size, ids = rows.topk(min(V, max(ORDERED, K)), 1)
    size = size.double()
    others = pad(rows, (0, -V % CHUNK)).scatter(1, ids, 0.0).unflatten(1, (-1, CHUNK))
    reach = others.sum(2).double().cumsum(1)
    total = reach[:, -1:]
    rest = pad(size.flip(1).cumsum(1).flip(1), (0, 1)) + total  # from each of the sorted tokens on
    n = torch.minimum(most, (size > 0).sum(1))[:, None]
    place = torch.arange(size.shape[1], device=rows.device)
    sure = ((n > place) & ((n - place) * size >= rest[:, :-1])).long().cumprod(1).sum(1, keepdim=True)
    mass = rest.gather(1, sure)
    factor = torch.where(mass > 0, (n - sure) / torch.where(mass > 0, mass, 1.0), 0.0)
    pi = torch.where(place < sure, 1.0, factor * size)
    ends = pi.cumsum(1)
    length = ends[:, -1:]

    whole = torch.arange(K, device=rows.device).expand(len(rows), -1)
    at = torch.cat((whole + u.double(), whole[:, 1:]), 1)  # the K draws, then the K - 1 cuts
    among = (at < length) | (total <= 0)
    i = torch.searchsorted(ends, torch.minimum(at, _below(length)), right=True)
    x, end = _find(others, reach, (at - length) / torch.where(factor > 0, factor, 1.0))
    x = x.clamp(max=V - 1)  # where no other token has mass
    token = torch.where(among, ids.gather(1, i), x)
    tokens = torch.where(whole < n, token[:, :K], -1)

    mean = (rows * (factor / n).to(rows)).scatter_(1, ids, (pi / n).to(rows))
    cut, among, i, x, end = token[:, K:], among[:, K:], i[:, K:], x[:, K:], end[:, K:]
    last = torch.where(among, ends.gather(1, i), length + factor * end)
    part = torch.where(among, pi.gather(1, i), factor * rows.gather(1, x))
    beyond = ((last - whole[:, 1:]) / part).clamp(0, 1) + whole[:, :-1]
    real = whole[:, 1:] < n
    places = _fewer(torch.where(among, -1, x), real, V).to(rows)
    places.scatter_(1, ids, torch.minimum(pad(ends, (1, 0))[:, :-1].floor(), n - 1.0).to(rows))
    beyond = torch.where(n > 1, beyond.to(rows), places.gather(1, cut))
    places.scatter_(1, torch.where(real, cut, cut[:, :1]), torch.where(real, beyond, beyond[:, :1]))
    return mean, places, tokens


def _find(chunks: Tensor, reach: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
    """(x [R, M], end [R, M]): the tokens at points [R, M], moved onto the line, and where each one ends.

    On the line each token is as long as its entry in chunks [R, n, CHUNK], one after the other by id; the
    chunks end at reach [R, n]. No token without length is found, unless the whole line has none.
    """
    points = torch.minimum(points.clamp(min=0), _below(reach[:, -1:]))
    chunk = torch.searchsorted(reach, points, right=True).clamp(max=reach.shape[1] - 1)
    start = pad(reach, (1, 0)).gather(1, chunk)
    ends = chunks.gather(1, chunk[..., None].expand(-1, -1, CHUNK)).double().cumsum(2)
    inside = torch.minimum(points - start, _below(ends[..., -1]))[..., None]
    x = torch.searchsorted(ends, inside, right=True).clamp(max=CHUNK - 1)
    return chunk * CHUNK + x[..., 0], start + ends.gather(2, x)[..., 0]


def _fewer(x: Tensor, real: Tensor, V: int) -> Tensor:
    """[R, V]: how many of the x [R, M] that are `real` are smaller than each id."""
    chunk, n = x.clamp(min=0) // CHUNK, -(-V // CHUNK)
    before = torch.zeros(len(x), n + 1, device=x.device)  # in earlier chunks; then those of the same chunk
    before.scatter_add_(1, torch.where(x < 0, 0, chunk + 1), real.float())
    found = before.cumsum(1)[:, :n, None].expand(-1, -1, CHUNK).contiguous().flatten(1)
    ids = chunk[..., None] * CHUNK + torch.arange(CHUNK, device=x.device)
    smaller = (x[:, None, None] < ids[..., None]) & real[:, None, None]
    return found.scatter_(1, ids.flatten(1), smaller.sum(3).float().flatten(1))[:, :V].contiguous()


def _below(number: Tensor) -> Tensor:
    return torch.nextafter(number, torch.zeros_like(number))
