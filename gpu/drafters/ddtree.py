"""DDTree's tree: the likeliest prefixes when each depth has one row (ringel2026ddtree)."""

from functools import cache
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.network.session import Draft, Session, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.verifier import DETERMINISTIC, WITHOUT

COLUMN = 64
"""Tokens of a column, of which only the maximum is compared first."""
FIRST = 64
"""As many of a row's likeliest tokens are looked at first."""
SLACK = 1e-3
"""More than float32 can be wrong in a log-probability."""


class DDTree(Structure):
    """The `most` likeliest prefixes of at most `depth` tokens, for drafters whose rows depend on the depth
    alone, at temperature 1. The tree is a function of the context, so only rules for deterministic drafts
    (one-hot, nss) are lossless. `claims_rows` makes a faulty draft, which says that its tokens were drawn
    from the rows.
    """

    def __init__(self, name: str, most: int, depth: int, claims_rows: bool = False) -> None:
        self.name, self.size, self.depth, self.claims_rows = name, 1 + most, depth, claims_rows
        self.kind = WITHOUT if claims_rows else DETERMINISTIC

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """One tree for each text; uniforms and history are not read."""
        logits = session.by_depth()[:, : self.depth]
        if session.recorder.active:  # nothing may be read back
            tokens, parents = likeliest_on_device(logits, self.size - 1)
        else:
            found = [likeliest_prefixes(each, self.size - 1) for each in logits.cpu()]
            tokens, parents = torch.from_numpy(np.array(found)).to(logits.device).unbind(1)
        if not self.claims_rows:
            return Draft(Tree(pad(parents, (1, 0)), depth=self.depth), tokens)
        levels = Tree(pad(parents, (1, 0)), depth=self.depth).levels.clamp(max=self.depth - 1)
        tree = Tree(pad(parents, (1, 0)), depth=self.depth, rows=levels)
        return Draft(tree, tokens, logits=sampling.filtered(logits), heat=sampling.heat)


def likeliest_prefixes(logits: Tensor, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [count], parents [count]): the `count` likeliest prefixes under the product of the rows that
    logits [depth, V] give, parents first. Token i is node i + 1, and parent 0 is the root. Of equally likely
    prefixes the shorter goes first. Prefixes of probability 0 are left out: their tokens are -1.

    A prefix that ends with the r-th likeliest child of the i-th likeliest prefix of its length - 1 is less
    likely than i r - 1 others, so that a level has some `count` log `count` candidates whatever V is. Tokens
    that were not looked at are only looked for where even the best prefix with one would be in the tree.

    >>> likeliest_prefixes(torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]).log(), 4)
    (array([0, 1, 0, 0]), array([0, 0, 1, 2]))
    """
    most = min(logits.shape[1], count)
    rows: dict[int, Row] = {}
    least = -np.inf
    while True:
        value, word, parent, best = _grown(logits, rows, count, least)
        chosen = np.sort(np.argsort(-value, kind="stable")[:count])
        least = value[chosen].min() if len(chosen) == count else -np.inf
        small = [d for d in rows if d < len(best) and len(rows[d][0]) < most]
        short = [d for d in small if best[d] + rows[d][0][-1] > least]
        if not short:
            break
        for d in short:
            known = rows[d][0]
            bound = float(logits[d].max()) - known[0] + least - best[d] - SLACK  # of logits
            rows[d] = _likeliest(logits[d], min(max(int((logits[d] >= bound).sum()), len(known) + 1), most))
    number = np.zeros(len(value) + 1, int)
    number[chosen + 1] = np.arange(1, len(chosen) + 1)
    missing = count - len(chosen)
    tokens = np.pad(word[chosen], (0, missing), constant_values=-1)
    return tokens, np.pad(number[parent[chosen]], (0, missing))


def likeliest_on_device(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `likeliest_prefixes`, of each row of logits [B, depth, V], without a look at numbers: all candidates
    of every level are made.

    >>> rows = torch.tensor([[[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]]).log()
    >>> [each.tolist() for each in likeliest_on_device(rows, 4)]
    [[[0, 1, 0, 0]], [[0, 0, 1, 2]]]
    """
    own, ids = logits.double().log_softmax(-1).clamp(max=0).topk(min(count, logits.shape[2]), -1)
    i, r = _pairs_on(logits.device, count, own.shape[2])
    place = torch.arange(count, device=logits.device).expand(len(logits), -1)
    level, above = torch.where(place > 0, -torch.inf, own.new_zeros(())), place * 0
    values, tokens, parents = [], [], []
    for d in range(logits.shape[1]):
        level, at = _likeliest_first(level[:, i] + own[:, d, r], count)
        values.append(level)
        tokens.append(ids[:, d, r].gather(1, at))
        parents.append(above.gather(1, i[at]))
        above = 1 + d * count + place  # 0 is the root, and candidate k of all levels is number k + 1
    value, token, parent = (torch.cat(each, 1) for each in (values, tokens, parents))
    most, chosen = _likeliest_first(value, count)
    nothing = value.shape[1]
    chosen = torch.where(most > -torch.inf, chosen, nothing).sort().values
    number = chosen.new_zeros(len(value), nothing + 2).scatter(1, chosen + 1, 1 + place)
    token, parent = pad(token, (0, 1), value=-1), pad(parent, (0, 1))
    return token.gather(1, chosen), number.gather(1, parent.gather(1, chosen))


@cache
def _pairs_on(device: torch.device, count: int, most: int) -> Tensor:
    return torch.from_numpy(np.array(_pairs(count, most)[:2])).to(device)


def _likeliest_first(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest numbers of each row, and their places; of equal ones the first."""
    found = values.sort(dim=-1, descending=True, stable=True)
    return found.values[:, :count], found.indices[:, :count]


def _grown(
    logits: Tensor, rows: dict[int, "Row"], count: int, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """(log-probabilities, tokens, parents) of candidates level by level, from those at least as likely as
    `least`, and the log-probability of the best prefix of each length from 0. Adds rows to `rows`.
    """
    level, start, best = np.zeros(1), 0, [0.0]
    values, tokens, parents = [np.empty(0)], [np.empty(0, int)], [np.empty(0, int)]
    for d, row in enumerate(logits):
        if best[d] < least or not len(level):
            break
        if d not in rows:
            rows[d] = _likeliest(row, min(FIRST, len(row), count))
        own, ids = rows[d]
        above, ranks, ends = _pairs(count, len(own))
        last = ends[np.searchsorted(-level, own[0] - least, side="right")]
        i, r = above[:last], ranks[:last]
        value = level[i] + own[r]
        good = np.flatnonzero((value >= least) & (value > -np.inf))
        if len(good) > count:
            good = np.sort(good[np.argpartition(-value[good], count - 1)[:count]])
        good = good[np.argsort(-value[good], kind="stable")]
        level = value[good]
        values.append(level)
        tokens.append(ids[r[good]])
        parents.append(start + i[good])  # 0 is the root, and node k of all levels is number k + 1
        start = sum(map(len, values)) - len(good) + 1
        best.append(best[d] + float(own[0]))
        if start - 1 + len(good) >= count:
            every = np.concatenate(values)
            least = max(least, float(np.partition(every, len(every) - count)[len(every) - count]))
    return np.concatenate(values), np.concatenate(tokens), np.concatenate(parents), best


Row: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Log-probabilities, likeliest first, and their ids."""


def _likeliest(row: Tensor, most: int) -> Row:
    """The `most` likeliest tokens. They are in the `most` columns of largest maximum, so that only these are
    sorted if the vocabulary is large.
    """
    columns = len(row) // COLUMN
    if len(row) % COLUMN or columns < 2 * most:
        found, ids = row.topk(most)
    else:
        table = row.view(COLUMN, columns)
        at = table.amax(0).topk(most, sorted=False).indices
        found, place = table[:, at].flatten().topk(most)
        ids = place // most * columns + at[place % most]
    whole = (row - found[0]).exp_().sum().log() + found[0]
    return (found - whole).clamp(max=0).double().numpy(), ids.numpy()


@cache
def _pairs(count: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All (i, r) from 0 with (i + 1)(r + 1) <= count and r < most, by i; the k-th end is that of i < k."""
    sizes = np.minimum(count // np.arange(1, count + 1), most)
    ends = np.append(0, np.cumsum(sizes))
    above = np.repeat(np.arange(count), sizes)
    return above, np.arange(len(above)) - ends[above], ends
