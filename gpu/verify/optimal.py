"""The optimum of a node in classes, node by node and lifted: the rows are read once, for a few sums.

The exact form, whose names are used, is theory/values/optimal_classes.py. Places are those of
`cells.edges`, the highest first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.sampling.device import looks
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import cells
from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import pick, rate, share
from draftproof.gpu.verify.verifier import CHAIN, STRATIFIED, WITH, Rates, Verifier
from draftproof.theory.values import optimal_classes as exact
from draftproof.theory.verifiers.shared.optimal import ranked

NONE = 2.0**-40
"""A mass that counts as none: rounding leaves as much of a place that is kept whole."""


@dataclass(frozen=True)
class Nodes:
    """What a plan needs of F nodes with at most K children each.

    child [B, F, K]: the children in drawing order, 0 where there is none; there [B, F, K]: whether each was
    drawn; first [B, F, K]: where among them the first copy of each token is; kind, upper [B, F, K]: the
    classes of the tokens, and how likely each takes the upper place; mass [B, F, C, G]: of the places of each
    stratum, where G is 1 for i.i.d. siblings and K with strata (C tells which they are); over [B, F]: what of
    p is above all edges.
    """

    child: Tensor
    there: Tensor
    first: Tensor
    kind: Tensor
    upper: Tensor
    mass: Tensor
    over: Tensor

    @classmethod
    def of(cls, drafts: Drafts, nodes: Tensor) -> "Nodes":
        """The one read of the rows, node after node, so that a row stays in the cache."""
        tree, B = drafts.tree, len(drafts.tokens)
        child = tree.children[:, nodes].expand(B, -1, -1)
        there = (child > 0) & drafts.drawn.gather(1, child.flatten(1)).view(child.shape)
        x = drafts.ids.gather(1, (child - 1).clamp(min=0).flatten(1)).view(child.shape)
        parts = []
        for at, (p, q, places) in enumerate(_rows(drafts, nodes)):
            q = q if places is None else q * there[:, at].sum(1, keepdim=True).clamp(min=1)
            sums = cells.sums(p, q, places, 1 if places is None else child.shape[2])
            pair = (row.gather(1, x[:, at]) for row in (p, q))
            parts.append((*pair, *sums))
        p, q, *sums = (torch.stack(each, 1) for each in zip(*parts, strict=True))
        return cls.made(child, there, x, (p, q), sums)

    @classmethod
    def made(
        cls, child: Tensor, there: Tensor, x: Tensor, pair: Sequence[Tensor], sums: Sequence[Tensor]
    ) -> "Nodes":
        """From the drafted tokens x, p and q of these [B, F, K], and `cells.sums`."""
        (p, q), (taken, stays) = pair, sums
        kind, upper = cells.split(p, q, taken.shape[2])
        upper = rate(upper.double(), q.double())
        first = ((x[..., None] == x[..., None, :]) & there[..., None, :]).long().argmax(3)
        return cls(
            child,
            there,
            first,
            kind,
            upper,
            stays + pad(taken[:, :, 1:], (0, 0, 0, 1)),
            taken[:, :, 0].sum(2),
        )

    def split(self, sizes: list[int]) -> list["Nodes"]:
        """Groups of consecutive nodes."""
        parts = (part.split(sizes, 1) for part in vars(self).values())
        return [Nodes(*group) for group in zip(*parts, strict=True)]


def rates(drafts: Drafts, lift: bool) -> Rates:
    """Node by node a child is accepted with w_j / (1 - w_1 - .. - w_{j-1}), w_j the probability that child j
    is the one that the plan keeps. Lifted, a node that is entered with a plans for the row a p and, after its
    children, stops itself with S / (S + 1 - a), S the mass that the plan leaves of a p.
    """
    levels = drafts.tree.generations
    if not levels:
        entry = drafts.target.new_ones(drafts.drawn.shape)
        return Rates(entry, entry.new_zeros(*entry.shape, exact.SHARED, 1))
    found = planned(Nodes.of(drafts, torch.cat(levels)), drafts.tree, drafts.drawn, lift)
    return Rates(found.accept.to(drafts.target), found.cut.to(drafts.target))


def planned(every: Nodes, tree: Tree, drawn: Tensor, lift: bool) -> Rates:
    """The rates of a tree whose nodes with children are `every`, level by level."""
    levels, turns = tree.generations, in_turn_at(tree) if lift else []
    order, stops, cuts = torch.cat(levels), [], []
    entry = every.mass.new_ones(drawn.shape)
    groups = every.split([len(level) for level in levels]) if lift else [every]
    for level, nodes in zip(levels if lift else (order,), groups, strict=True):
        a = entry[:, level] if lift else torch.ones_like(entry[:, level])
        w, cut, S = plan(nodes, a, turns[: len(level)])
        turns = turns[len(level) :]
        into = rate(w, 1 - pad(w.cumsum(2), (1, 0))[..., :-1])
        entry = entry.scatter(1, nodes.child.flatten(1), into.flatten(1))
        stops.append(torch.where(nodes.there.any(2), share(S, S + (1 - a)), a))
        cuts.append(cut)
    accept = entry.index_copy(1, order, torch.cat(stops, 1)) if lift else entry
    cut = entry.new_zeros(*entry.shape, *every.mass.shape[2:]).index_copy(1, order, torch.cat(cuts, 1))
    return Rates(accept, cut)


def in_turn_at(tree: Tree) -> list[bool]:
    """Whether the siblings below each node of `tree.generations` are judged in turn: by the shape of a shared
    tree, never by what was drawn.
    """
    shapes: list[tuple] = [()] * tree.size
    if tree.as_tuple and tree.replacement:
        for node, parent in reversed([*enumerate(tree.as_tuple)][1:]):
            shapes[parent] = (shapes[node], *shapes[parent])
    return [ranked(shapes[node]) for node, _ in tree.reads or ()]


def plan(nodes: Nodes, a: Tensor, turns: Sequence[bool] = ()) -> tuple[Tensor, Tensor, Tensor]:
    """(w [B, F, K], cut [B, F, C, G], S [B, F]): the probability that each child is kept, what remains of a
    place's mass, over a, and the mass that is left, for nodes entered with a [B, F]; `turns` [F] says whose
    siblings are judged in turn.
    """
    edge = cells.edges(nodes.mass.shape[2], a.device).expand(*a.shape, -1)
    order, rank = _filled(nodes.mass)
    full, edge = edge[..., None].expand_as(nodes.mass), edge.gather(2, order)[..., None]
    order = order[..., None].expand(*order.shape, nodes.mass.shape[3])
    mass = nodes.mass.gather(2, order)
    cap = a[..., None, None] * edge * mass
    whole = mass.sum(2, keepdim=True)
    mass = torch.where(whole > 0, mass / whole, 0.0)
    # The places of the drafted tokens, the lower one first, and how likely each is taken.
    place = torch.stack((nodes.kind, (nodes.kind - 1).clamp(min=0)), 3)
    place = rank.gather(2, place.flatten(2)).clamp(max=mass.shape[2] - 1).view(place.shape)
    part = torch.stack((1 - nodes.upper, nodes.upper), 3)
    if nodes.mass.shape[2] == exact.SHARED:
        w, kept = lending(nodes.there, place, part, mass, cap)
        if any(turns):
            both = (w, kept), in_turn(nodes.there, place, part, mass, cap)
            w, kept = (
                torch.stack([each[turn][:, f] for f, turn in enumerate(turns)], 1)
                for each in zip(*both, strict=True)
            )
    else:
        w, kept = passing(nodes.there, place, part, mass, cap, edge)
    cut = torch.where(cap > 0, (edge * (1 - kept / cap)).clamp(min=0), edge)
    w = torch.where(nodes.there & (a > 0)[..., None], w, 0.0)
    w = torch.zeros_like(w).scatter_add(2, nodes.first, w)
    gap = cap - kept
    left = a * nodes.over + torch.where(gap > NONE, gap, 0.0).sum((2, 3))
    return w, full.scatter(2, order, cut), left


def _filled(mass: Tensor) -> tuple[Tensor, Tensor]:
    """(order, rank) of the classes [B, F, C]: those with mass, highest first, as many as a node has at most;
    and where each class comes. All are kept where the host may not look.
    """
    every = torch.arange(mass.shape[2], device=mass.device).expand(mass.shape[:3])
    if not looks(mass):
        return every, every
    filled = (mass > 0).any(3)
    order = filled.sort(dim=2, descending=True, stable=True).indices
    most = int(filled.sum(2).amax()) if filled.numel() else 1
    return order[..., : max(1, most)], order.argsort(2)


def lending(there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor) -> tuple[Tensor, Tensor]:
    """(w, kept) of i.i.d. siblings, as `exact.lending`."""
    m, cap = mass[..., 0], cap[..., 0]
    rest = (1 - pad(m.cumsum(2), (1, 0))).clamp(min=0) ** there.sum(2, keepdim=True)
    drafted = rest[..., :-1] - rest[..., 1:]
    kept = _steps(least(1 - rest[..., 1:], cap))
    spare, lack = (pad(gap.clamp(min=0).cumsum(2), (1, 0)) for gap in (drafted - kept, kept - drafted))
    lead = torch.where(drafted > kept, drafted - _steps(torch.minimum(spare, lack[..., -1:])[..., 1:]), kept)
    # With which chance each place of a drafted token speaks at each time.
    density = torch.where(m > 0, drafted / m, 0.0)

    def at(row: Tensor) -> Tensor:
        return row.gather(2, place.flatten(2)).view(place.shape)[..., None]

    def overlap(one: Tensor, other: Tensor) -> Tensor:
        ends = torch.minimum(at(one[..., 1:]), other[..., None, None, 1:])
        return (ends - torch.maximum(at(one[..., :-1]), other[..., None, None, :-1])).clamp(min=0)

    moved = overlap(spare, lack) + overlap(lack, spare)
    speaks = rate(moved, (at(density) - density[..., None, None, :]).abs() * at(m))
    others = speaks.sum(4, keepdim=True)
    speaks = speaks / others.clamp(min=1)
    speaks = speaks.scatter_add(4, place[..., None], (1 - others).clamp(min=0)) * part[..., None]
    wins = (speaks * at(rate(kept, lead))).sum(3)
    return (wins * alone(there, speaks.sum(3))).sum(3), torch.minimum(kept, lead)[..., None]


def in_turn(there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor) -> tuple[Tensor, Tensor]:
    """(w, kept) of i.i.d. siblings, as `exact.in_turn`, whose chances the rounds end at."""
    m, cap = mass[..., 0][:, :, None] * there[..., None], cap[..., 0][:, :, None]
    chance = torch.ones_like(m)
    for _ in range(exact.ROUNDS):
        most = m * alone(there, m * chance)
        taken = torch.minimum(most.cumsum(2), cap).diff(dim=2, prepend=torch.zeros_like(cap))
        chance = share(taken, most)
    lead = (m * chance * alone(there, m * chance)).sum(2)
    kept = torch.where(lead > (1 - NONE) * cap[:, :, 0], cap[:, :, 0], lead)
    speaks = torch.zeros_like(m).scatter_add(3, place, part * chance.gather(3, place))
    wins = speaks * rate(kept, lead)[:, :, None]
    return (wins * alone(there, speaks)).sum(3), kept[..., None]


def alone(there: Tensor, speaks: Tensor) -> Tensor:
    """[B, F, K, C]: how likely no other sibling has spoken when one speaks at each time, the first drawn one
    of those that speak then.
    """
    after = torch.where(there[..., None], 1 - speaks.cumsum(3), 1.0).clamp(min=0)
    before = pad(after, (1, 0), value=1)[..., :-1]
    others = [after[:, :, :j].prod(2) * before[:, :, j + 1 :].prod(2) for j in range(there.shape[2])]
    return torch.stack(others, 2)


def passing(
    there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor, edge: Tensor
) -> tuple[Tensor, Tensor]:
    """(w, kept) of siblings from strata, as `exact.passing`."""
    C, G = mass.shape[2:]
    n, drawn = C * G, there[:, :, None]
    mass, cap = torch.where(drawn, mass, 0.0), torch.where(drawn, cap, 0.0)
    key = edge * (1 - mass.cumsum(2)).clamp(min=0)
    turn = -(256 * key / (1 + key) + 0.3).floor().flatten(2)
    order = turn.argsort(dim=2, stable=True)
    m, t = (each.flatten(2).gather(2, order) for each in (mass, cap))
    own = (order % G)[..., None] == torch.arange(G, device=m.device)
    rest = (1 - torch.where(own, m[..., None], 0.0).cumsum(2)).clamp(min=0)
    drafted = 1 - rest.prod(3)
    kept = least(drafted, t)
    tight = drafted - kept <= float(exact.SLACK)
    rank = torch.arange(n, device=m.device)
    start = torch.where(pad(tight, (1, 0))[..., :-1], rank, 0).cummax(2).values
    end = torch.where(tight, rank, n - 1).flip(2).cummin(2).values.flip(2)
    times = torch.cat((rank + start, rank + end + 1), 2)  # of speaking, then of having passed
    want = torch.where(m > 0, _steps(kept) / m, 0.0)
    passes = torch.zeros_like(m)
    sequence = times.argsort(2)
    own = torch.cat((own, own), 2).gather(2, sequence[..., None].expand(-1, -1, -1, G))
    for turn_ in range(exact.ROUNDS + 1):
        spoken = torch.cat((m * (1 - passes), m * passes), 2).gather(2, sequence)[..., None]
        rest = (1 - torch.where(own, spoken, 0.0).cumsum(2)).clamp(min=0)
        rest = torch.where(own, 1.0, rest).prod(3)
        first, last = rest.gather(2, times).split(n, 2)
        if turn_ < exact.ROUNDS:
            passes = torch.where(first > last, ((first - want) / (first - last)).clamp(0, 1), passes)
    lead = m * ((1 - passes) * first + passes * last)
    kept = torch.minimum(t, lead)
    rank = order.argsort(2)
    # Both places of each drafted token, now and later: when it speaks, and how likely.
    column = torch.arange(G, device=m.device)[:, None]
    place = place * G + column

    def at(row: Tensor) -> Tensor:
        return row.gather(2, rank.gather(2, place.flatten(2))).view(place.shape)

    one, two = times.split(n, 2)
    late = at(passes) * part
    spoken, when = torch.cat((part - late, late), 3), torch.cat((at(one), at(two)), 3)
    later = (when[:, :, None, None] > when[..., None, None]) * spoken[:, :, None, None]
    later = torch.where(there[:, :, None, None], later.sum(5), 1.0)
    later = torch.where(torch.eye(G, dtype=torch.bool, device=m.device)[:, None], 1.0, later).prod(4)
    w = (spoken * at(rate(kept, lead)).repeat(1, 1, 1, 2) * later).sum(3)
    return w, kept.gather(2, rank).unflatten(2, (C, G))


def least(drafted: Tensor, cap: Tensor) -> Tensor:
    """The largest sums [.., n] that never exceed `drafted`, with steps of at most `cap`."""
    total = cap.cumsum(-1)
    return total + (drafted - total).cummin(-1).values.clamp(max=0)


def _steps(sums: Tensor) -> Tensor:
    return sums.diff(prepend=torch.zeros_like(sums[..., :1])).clamp(min=0)


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


OPTIMAL = Verifier((CHAIN, WITH, STRATIFIED), partial(rates, lift=False), exact=exact.verify)
LIFTED_OPTIMAL = Verifier(
    (CHAIN, WITH, STRATIFIED), partial(rates, lift=True), upwards=True, exact=exact.verify_lifted
)
