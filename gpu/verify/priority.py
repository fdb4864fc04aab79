"""The priority rule in classes, node by node and lifted: the rows are read once, for a few sums.

The exact form is theory/values/priority_classes.py. With i.i.d. siblings a class has one cut, which each
sibling raises; with strata it has one for each sibling.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.cells import CLASSES, HIGH, LOW, class_edges, classes, kept, rest, sums
from draftproof.gpu.verify.residual import pick, rate, share
from draftproof.gpu.verify.verifier import CHAIN, STRATIFIED, WITH, Rates, Verifier
from draftproof.theory.values import priority_classes as exact

TINY = 1e-15  # instead of 0, where a number divides


@dataclass(frozen=True)
class Nodes:
    """What a plan needs of F nodes with at most K children each.

    child [B, F, K]: the children in drawing order, 0 where there is none; there [B, F, K]: whether each was
    drawn; kind, ratio [B, F, K]: class and p / q of their tokens; p, q [B, F, CLASSES, G]: the masses of each
    class and stratum, where G is 1 for i.i.d. siblings and K with strata.
    """

    child: Tensor
    there: Tensor
    kind: Tensor
    ratio: Tensor
    p: Tensor
    q: Tensor

    @classmethod
    def of(cls, drafts: Drafts, nodes: Tensor) -> "Nodes":
        """The one read of the rows, node after node, so that a row stays in the cache."""
        tree, B = drafts.tree, len(drafts.tokens)
        child = tree.children[:, nodes].expand(B, -1, -1)
        there = (child > 0) & drafts.drawn.gather(1, child.flatten(1)).view(child.shape)
        x = drafts.ids.gather(1, (child - 1).clamp(min=0).flatten(1)).view(child.shape)
        parts = []
        for at, (p, q, places) in enumerate(_rows(drafts, nodes)):
            p_x, q_x = (row.gather(1, x[:, at]) for row in (p, q))
            ratio = torch.where(q_x > 0, p_x.double() / q_x, 0.0)
            masses = sums(p, q, places, 1 if places is None else child.shape[2])
            parts.append((classes(p_x, q_x).long(), ratio, *masses))
        return cls(child, there, *(torch.stack(each, 1) for each in zip(*parts, strict=True)))

    def split(self, sizes: list[int]) -> list["Nodes"]:
        """Groups of consecutive nodes."""
        parts = (part.split(sizes, 1) for part in vars(self).values())
        return [Nodes(*group) for group in zip(*parts, strict=True)]


def rates(drafts: Drafts) -> Rates:
    """Node by node: a child is accepted with w_j / (1 - w_1 - .. - w_{j-1}), w_j the probability that child j
    is the one that the rule keeps.
    """
    return _rates(drafts, lift=False)


def lifted_rates(drafts: Drafts) -> Rates:
    """From leaf to root: a node that is entered with a plans for the row a p. Its children are entered as
    node by node, and it stops itself with S / (S + 1 - a), S the mass that the plan leaves of a p.
    """
    return _rates(drafts, lift=True)


def _rates(drafts: Drafts, lift: bool) -> Rates:
    levels = drafts.tree.generations
    entry = drafts.target.new_ones(drafts.drawn.shape, dtype=torch.float64)
    if not levels:
        return Rates(entry.to(drafts.target), drafts.target.new_zeros(*entry.shape, CLASSES, 1))
    order, stops, cuts = torch.cat(levels), [], []
    every = Nodes.of(drafts, order)
    groups = every.split([len(level) for level in levels]) if lift else [every]
    for level, nodes in zip(levels if lift else (order,), groups, strict=True):
        a = entry[:, level] if lift else torch.ones_like(entry[:, level])
        w, cut, S = plan(nodes, a)
        into = rate(w, 1 - pad(w.cumsum(2), (1, 0))[..., :-1])
        entry = entry.scatter(1, nodes.child.flatten(1), into.flatten(1))
        stops.append(torch.where(nodes.there.any(2), share(S, S + (1 - a)), a))
        cuts.append(cut)
    accept = entry.index_copy(1, order, torch.cat(stops, 1)) if lift else entry
    cut = entry.new_zeros(*entry.shape, CLASSES, every.p.shape[3]).index_copy(1, order, torch.cat(cuts, 1))
    return Rates(accept.to(drafts.target), cut.to(drafts.target))


def plan(nodes: Nodes, a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(w [B, F, K], cut [B, F, CLASSES, G], S [B, F]): the probability that each child is kept, the cuts, and
    the mass that is left, for nodes entered with a [B, F].
    """
    K, G = nodes.child.shape[2], nodes.p.shape[3]
    low, high = class_edges(a.device)
    cuts, step = _cuts(nodes, a, low, high)
    final = cuts if G > 1 else cuts[..., -1:]
    S = a * rest(nodes.p, nodes.q, final, low[:, None], high[:, None]).sum((2, 3))
    edges = low[nodes.kind], high[nodes.kind]
    cut, step = (each.gather(2, nodes.kind[:, :, None])[:, :, 0] for each in (cuts, step))
    ratio, even = nodes.ratio, torch.ones_like(nodes.ratio)
    part = kept(ratio, even, cut, *edges) - kept(ratio, even, cut - step, *edges)
    chosen = torch.where(cut <= edges[0], 1.0, share(part, step))  # 1 without rounding: nothing is capped
    chosen = torch.where(nodes.there & (ratio > 0) & (a > 0)[..., None], chosen, 0.0)
    turn = nodes.kind * K + torch.arange(K, device=a.device)
    earlier = turn[..., None, :] < turn[..., None]
    w = chosen * torch.where(earlier, 1 - chosen[..., None, :], 1.0).prod(3)
    return w, final, S


def _cuts(nodes: Nodes, a: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """(cuts, steps), both [B, F, CLASSES, K]: a class's cut after sibling j, and how much j raised it."""
    K, G = nodes.child.shape[2], nodes.p.shape[3]
    mass = nodes.q.sum(2)
    raises = 1 / (a.clamp(min=TINY)[..., None] * torch.where(mass > 0, mass, 1.0))
    raises = torch.where(nodes.there & (mass > 0), raises, 0.0)
    q = a[..., None, None] * nodes.q
    over = (a[..., None, None] * nodes.p - low[:, None] * q) / (high - low)[:, None]
    given = raises.movedim(2, 0), *(each.movedim((2, 3), (0, 1)).contiguous() for each in (q, over))
    if a.device.type == "cpu" and not torch.compiler.is_compiling():
        unkept = torch.from_numpy(_unkept(np, *(each.numpy() for each in given)))
    else:
        unkept = _unkept(torch, *given)
    unkept = unkept.movedim((0, 1), (2, 3))  # [B, F, 1 + CLASSES, K]
    step = raises[:, :, None].repeat(1, 1, CLASSES, 1)
    for j in range(K):
        before, later = unkept[:, :, 1:, :j], unkept[:, :, :-1, j + 1 :]
        step[..., j] *= before.prod(3) * later.prod(3)
    return step if G > 1 else step.cumsum(3), step


def _unkept(lib: Any, raises: Any, q: Any, over: Any) -> Any:
    """[1 + CLASSES, K, B, F]: the probability that a sibling was not kept, after so many classes.

    raises [K, B, F]: how far each sibling raises a cut if it is reached with certainty; q, over [CLASSES, G,
    B, F]: what a class and stratum has of q, and how much more it keeps where its cut is higher by 1, above
    its lower edge. These are hundreds of operations on a few numbers each, which numpy starts several times
    faster than torch.
    """
    K, shared = len(raises), q.shape[1] == 1
    one, minimum = lib.ones_like(raises[0]), lib.minimum
    low, high, least = ([one * number for number in each] for each in (LOW, HIGH, [TINY]))
    unkept, found = [one] * K, [one] * K
    for c in range(CLASSES):
        later = list(accumulate(unkept[:0:-1], mul))[::-1]  # that no later sibling was kept so far
        before = cut = had = None
        for j in range(K):
            reach = later[j] if j < K - 1 else one if before is None else before
            if before is not None and j < K - 1:
                reach = reach * before
            step, g = reach * raises[j], 0 if shared else j
            cut = step if cut is None or not shared else cut + step
            below = minimum(cut, low[c])
            got = below * q[c, g] + (minimum(cut, high[c]) - below) * over[c, g]
            gain = got if had is None or not shared else got - had
            unkept[j] = lib.maximum(unkept[j] - gain / reach, least[0])
            had = got
            if j < K - 1:
                before = unkept[j] if before is None else before * unkept[j]
        found += unkept
    return lib.stack(found).reshape(1 + CLASSES, *raises.shape)


def _rows(drafts: Drafts, nodes: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
    # Each node's rows of p, of q and of the places; of a shared tree they are read where they lie.
    tree, places = drafts.tree, drafts.strata
    for node, row in tree.reads or ():
        yield drafts.target[:, node], drafts.q[:, row], None if places is None else places[:, row]
    if tree.reads is None:
        for node in nodes:
            f = node.expand(len(drafts.tokens))
            row = tree.rows.gather(1, f[:, None])[:, 0]
            yield pick(drafts.target, f), pick(drafts.q, row), None if places is None else pick(places, row)


PRIORITY = Verifier((CHAIN, WITH, STRATIFIED), rates, exact=exact.verify)
LIFTED_PRIORITY = Verifier((CHAIN, WITH, STRATIFIED), lifted_rates, upwards=True, exact=exact.verify_lifted)
