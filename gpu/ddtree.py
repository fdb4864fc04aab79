"""DDTree's tree: the likeliest prefixes when each depth has one row (ringel2026ddtree)."""

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.draft import Tree
from draftproof.gpu.history import History
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Draft
from draftproof.gpu.verify.verifier import DETERMINISTIC, WITHOUT

FIRST = 64
"""As many of each row's likeliest tokens are looked at first, then eight times as many where needed."""


class DDTree:
    """The `most` likeliest prefixes of at most `depth` tokens, for drafters whose rows depend on the depth
    alone, at temperature 1. The tree is a function of the context, so only rules for deterministic drafts
    (one-hot, nss) are lossless. `claims_rows`, a fault: the draft says that its tokens were drawn from the
    rows.
    """

    def __init__(self, name: str, most: int, depth: int, claims_rows: bool = False) -> None:
        self.name, self.size, self.depth, self.claims_rows = name, 1 + most, depth, claims_rows
        self.kind = WITHOUT if claims_rows else DETERMINISTIC

    def to(self, device: torch.device) -> "DDTree":
        """The same structure, which has no tables."""
        return self

    def grow(
        self, session: Any, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """One tree for each text; uniforms and history are not read."""
        logits = session.by_depth()[:, : self.depth]
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
    depth, V = logits.shape
    whole = logits.logsumexp(-1, keepdim=True)
    sizes = [min(FIRST, V)] * depth
    rows = [_likeliest(logits, whole, slice(None), sizes[0])]
    score, token = [list(each) for each in rows[0]]
    while True:
        values, tokens, parents, least = _grown(score, token, count)
        best = np.cumsum([0.0, *(each[0] for each in score)])
        short = [
            d for d in range(depth) if sizes[d] < min(V, count) and best[d] + float(score[d][-1]) > least
        ]
        if not short:
            break
        for d in short:
            sizes[d] = min(8 * sizes[d], V)
            more, ids = _likeliest(logits, whole, slice(d, d + 1), sizes[d])
            score[d], token[d] = more[0], ids[0]
    missing = count - len(values)
    return np.pad(tokens, (0, missing), constant_values=-1), np.pad(parents, (0, missing))


def _likeliest(logits: Tensor, whole: Tensor, rows: slice, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(log-probabilities, ids), each [n, most], likeliest first."""
    found = logits[rows].topk(most, -1)
    return (found.values - whole[rows]).clamp(max=0).double().numpy(), found.indices.numpy()


def _grown(
    score: list[np.ndarray], token: list[np.ndarray], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(scores, tokens, parents) of the tree, and the score that a prefix must exceed to be in it."""
    above, ranks = _pairs(count)
    level, start, least = np.zeros(1), 0, -np.inf
    values, tokens, parents = [np.empty(0)], [np.empty(0, int)], [np.empty(0, int)]
    for own, ids in zip(score, token, strict=True):
        fit = (above < len(level)) & (ranks < len(own))
        i, r = above[fit], ranks[fit]
        value = level[i] + own[r]
        good = np.flatnonzero((value > least) & (value > -np.inf))
        good = good[np.argsort(-value[good], kind="stable")[:count]]
        if not len(good):
            break
        level = value[good]
        values.append(level)
        tokens.append(ids[r[good]])
        parents.append(start + i[good])  # 0 is the root, and node k of all levels is number k + 1
        every = np.concatenate(values)
        start = len(every) - len(good) + 1
        if len(every) >= count:
            least = float(np.partition(every, len(every) - count)[len(every) - count])
    value, word, parent = (np.concatenate(each) for each in (values, tokens, parents))
    chosen = np.sort(np.argsort(-value, kind="stable")[:count])
    number = np.zeros(len(value) + 1, int)
    number[chosen + 1] = np.arange(1, len(chosen) + 1)
    least = float(value[chosen].min()) if len(chosen) == count else -np.inf
    return value[chosen], word[chosen], number[parent[chosen]], least


@cache
def _pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """All (i, r) from 0 with (i + 1)(r + 1) <= count, by i."""
    sizes = count // np.arange(1, count + 1)
    above = np.repeat(np.arange(count), sizes)
    return above, np.arange(len(above)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
