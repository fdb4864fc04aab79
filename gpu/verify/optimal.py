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
    levels, turns = tree.generations, tree.in_turn if lift else []
    order, stops, cuts = torch.cat(levels), [], []
    entry = every.mass.new_ones(drawn.shape)
    sizes = [len(level) for level in levels] if lift else [len(order)]
    groups = zip(*(part.split(sizes, 1) for part in vars(every).values()), strict=True)
    for level, group in zip(levels if lift else (order,), groups, strict=True):
        nodes = Nodes(*group)
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


def plan(nodes: Nodes, a: Tensor, turns: Sequence[bool] = ()) -> tuple[Tensor, Tensor, Tensor]:
    """(w [B, F, K], cut [B, F, C, G], S [B, F]): the probability that each child is kept, what remains of a
    place's mass, over a, and the mass that is left, for nodes entered with a [B, F]; `turns` [F] says whose
    siblings are judged in turn.
    """
    mass = nodes.mass.transpose(2, 3)
    full = cells.edges(mass.shape[3], a.device).expand_as(mass)
    order, rank = _filled(mass)
    edge, mass = full.gather(3, order), mass.gather(3, order)
    cap = a[..., None, None] * edge * mass
    whole = mass.sum(3, keepdim=True)
    mass = torch.where(whole > 0, mass / whole, 0.0)
    # The places of the drafted tokens, the lower one first, and how likely each is taken.
    place = torch.stack((nodes.kind, (nodes.kind - 1).clamp(min=0)), 3)
    place = rank.expand(-1, -1, place.shape[2], -1).gather(3, place).clamp(max=mass.shape[3] - 1)
    part = torch.stack((1 - nodes.upper, nodes.upper), 3) * nodes.there[..., None]
    given = nodes.there, place, part, mass, cap
    found = {
        turn: in_turn(*given, order, full.shape[3])
        if turn
        else lending(*given)
        if mass.shape[2] == 1
        else waiting(*given, full.shape[3])
        for turn in {*turns} or {False}
    }
    w, kept = next(iter(found.values()))
    if len(found) > 1:
        w, kept = (torch.stack([found[turn][n][:, f] for f, turn in enumerate(turns)], 1) for n in range(2))
    cut = torch.where(cap > 0, (edge * (1 - kept / cap)).clamp(min=0), edge)
    w = torch.where(nodes.there & (a > 0)[..., None], w, 0.0)
    w = torch.zeros_like(w).scatter_add(2, nodes.first, w)
    gap = cap - kept
    left = a * nodes.over + torch.where(gap > NONE, gap, 0.0).sum((2, 3))
    return w, full.scatter(3, order, cut).transpose(2, 3), left


def _filled(mass: Tensor) -> tuple[Tensor, Tensor]:
    """(order, rank) of each stratum's classes [B, F, G, C]: those with mass, highest first, as many as one
    has at most; and where each class comes. All are kept where the host may not look.
    """
    filled = mass > 0
    count, every = filled.sum(3, keepdim=True), torch.arange(mass.shape[3], device=mass.device)
    rank = torch.where(filled, filled.cumsum(3), count + (~filled).cumsum(3)) - 1
    order = torch.empty_like(rank).scatter_(3, rank, every.expand_as(rank))
    most = int(count.amax()) if looks(mass) and filled.numel() else mass.shape[3]
    return order[..., : max(1, most)], rank


def lending(there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor) -> tuple[Tensor, Tensor]:
    """(w, kept) of i.i.d. siblings, as `exact.lending`."""
    rest = (1 - pad(mass.cumsum(3), (1, 0))).clamp(min=0) ** there.sum(2)[..., None, None]
    speaks, wins, kept = lent(place, part, mass, cap, -rest.diff())
    return (wins * alone(speaks.cumsum(3))).sum(3), kept


def lent(place: Tensor, part: Tensor, mass: Tensor, cap: Tensor, drafted: Tensor) -> tuple[Tensor, ...]:
    """(speaks, wins, kept): how likely each child speaks at the time of each of its classes [B, F, K, C], and
    is kept if it is the first; how often each place is kept. `drafted`: how often it leads at its own time.
    """
    kept = _steps(least(drafted.cumsum(3), cap))
    spare, lack = (pad(gap.clamp(min=0).cumsum(3), (1, 0)) for gap in (drafted - kept, kept - drafted))
    lead = torch.where(drafted > kept, drafted - _steps(torch.minimum(spare, lack[..., -1:])[..., 1:]), kept)
    # With which chance each place of a drafted token speaks at each time.
    density = torch.where(mass > 0, drafted / mass, 0.0)

    def at(row: Tensor) -> Tensor:
        return row.expand(-1, -1, place.shape[2], -1).gather(3, place)[..., None]

    def overlap(one: Tensor, other: Tensor) -> Tensor:
        ends = torch.minimum(at(one[..., 1:]), other[..., None, 1:])
        return (ends - torch.maximum(at(one[..., :-1]), other[..., None, :-1])).clamp(min=0)

    moved = overlap(spare, lack) + overlap(lack, spare)
    speaks = rate(moved, (at(density) - density[..., None, :]).abs() * at(mass))
    others = speaks.sum(4, keepdim=True)
    speaks = speaks / others.clamp(min=1)
    speaks = speaks.scatter_add(4, place[..., None], (1 - others).clamp(min=0)) * part[..., None]
    return speaks.sum(3), (speaks * at(rate(kept, lead))).sum(3), torch.minimum(kept, lead)


def in_turn(
    there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor, order: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """(w, kept), as `exact.in_turn`, whose chances the rounds end at; `order`: the classes of the places."""
    m = mass * there[..., None]
    own, later = mass.shape[2] > 1, torch.arange(m.shape[2], device=m.device) * (count // exact.LATER)
    time = order + later[:, None]

    def reach(row: Tensor) -> Tensor:
        """How likely nobody else has spoken when each sibling is judged in each place."""
        spoken = row.new_zeros(*row.shape[:3], count + len(later) * (count // exact.LATER))
        return alone(spoken.scatter_add(3, time, row).cumsum(3)).gather(3, time)

    chance = torch.ones_like(m)
    for _ in range(exact.ROUNDS):
        most = m * reach(m * chance)
        taken = torch.minimum(most if own else most.cumsum(2), cap)
        chance = share(taken if own else taken.diff(dim=2, prepend=torch.zeros_like(cap)), most)
    lead = m * chance * reach(m * chance)
    lead = lead if own else lead.sum(2, keepdim=True)
    kept = torch.where(lead > (1 - NONE) * cap, cap, lead)
    speaks = torch.zeros_like(m).scatter_add(3, place, part * chance.gather(3, place))
    return (speaks * rate(kept, lead) * reach(speaks)).sum(3), kept


def alone(spoken: Tensor, turned: bool = False) -> Tensor:
    """[B, F, K, n]: how likely no other sibling has spoken when one speaks at each time, the first drawn one
    of those that speak then, and at odd times the last one if `turned`; by how likely each has at its end.
    """
    first = (1 - spoken).clamp(min=0)
    last = pad(first, (1, 0), value=1)[..., :-1]
    if turned:
        odd = torch.arange(last.shape[3], device=last.device) % 2 == 1
        last, first = torch.where(odd, first, last), torch.where(odd, last, first)
    one = torch.ones_like(last[:, :, :1])
    ahead = torch.cat((one, first[:, :, :-1]), 2).cumprod(2)
    return ahead * torch.cat((one, last[:, :, 1:].flip(2)), 2).cumprod(2).flip(2)


def waiting(
    there: Tensor, place: Tensor, part: Tensor, mass: Tensor, cap: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """(w, kept) of siblings from strata, as `exact.waiting`."""
    mass, cap = (torch.where(there[..., None], each, 0.0) for each in (mass, cap))
    ends = pad(mass.cumsum(3), (1, 0))
    spoken = 1 - together(there, mass, (1 - ends).clamp(min=0), pad(cap.cumsum(3), (1, 0)), count)
    led = pad((spoken.diff() * alone(spoken[..., 1:], True)).cumsum(3), (1, 0))
    (led,) = interpolated(ends, spoken, led)
    speaks, wins, kept = lent(place, part, mass, cap, led.diff())
    speaks, wins = interpolated(spoken, ends, *(pad(each.cumsum(3), (1, 0)) for each in (speaks, wins)))
    return (wins.diff() * alone(speaks[..., 1:], True)).sum(3), kept


def together(there: Tensor, mass: Tensor, left: Tensor, want: Tensor, count: int) -> Tensor:
    """[B, F, G, times + 1], as `exact.together`."""
    filled = (mass > 0).sum(3)
    most = filled.amax((0, 1)).tolist() if looks(mass) else [mass.shape[3]] * mass.shape[2]
    u = (1 - torch.arange(2 * count, device=left.device).to(left) / (2 * count)) ** 2
    u, path = u.expand(*left.shape[:2], -1), []
    bound = left.new_tensor([[0, 1], [1, 1], [1, 1]])[:, None, None].expand(-1, *left.shape[:2], -1)
    for j, n in enumerate(most[:-1]):
        row = left[:, :, j, : n + 1], want[:, :, j, : n + 1], filled[:, :, j]
        speaks, ends, bound = lowered(bound, *row, count)
        begins = (speaks[..., :-1] * ends[..., 1:]).flip(2).cummin(2).values
        last = begins.shape[2] - torch.searchsorted(-begins, -u)
        now = torch.maximum(ends.gather(2, last), share(u, speaks.gather(2, last)))
        waits = there[:, :, j + 1 :].any(2, keepdim=True)
        path.append(torch.where(waits, now, u).cummin(2).values)
        u = share(u, path[-1])
    return torch.cat((torch.stack((*path, u.cummin(2).values), 2), left[..., -1:]), 3)


def lowered(bound: Tensor, left: Tensor, want: Tensor, last: Tensor, count: int) -> tuple[Tensor, ...]:
    """As `exact.lowered`; `bound` [3, B, F, n]; `last` [B, F]: how many places the row has."""

    def least(u: Tensor, sets: Tensor) -> Tensor:
        q, a = row.gather(3, sets.flatten(2).expand(2, -1, -1, -1))
        x = (q.view(sets.shape) * u[..., None]).flatten(2)
        i = within(bound[0], x).expand(2, -1, -1, -1)
        (start, fall), (other, steeper) = bound[1:].gather(3, i), bound[1:].gather(3, i + 1)
        below, above = start - fall * x, other - steeper * x
        fall = (torch.where(below < above, fall, steeper) * q).view(sets.shape)
        value, best = (torch.minimum(below, above) - a).view(sets.shape).min(3, keepdim=True)
        value, fall, best = value[..., 0], fall.gather(3, best)[..., 0], sets.gather(3, best)[..., 0]
        return torch.stack((u, value + fall * u, fall, best.to(u)))

    row = torch.stack((left, want))
    points = torch.linspace(0, 1, max(count // 4, 1) + 1, dtype=left.dtype, device=left.device)
    points = points.expand(*left.shape[:2], -1)
    sets = torch.arange(left.shape[2], device=left.device).expand(*points.shape, -1).clone()
    sets[:, :, 0], sets[:, :, -1] = last[..., None], 0
    found = least(points, sets)
    for tried in (*exact.TRIED, 0):
        u, chosen, steps = found[0], found[3], found.diff()
        crossed = (steps[1] / steps[2]).nan_to_num(0.0).clamp(u[..., :-1], u[..., 1:])
        if tried:
            low, more = chosen[..., 1:, None].long(), -steps[3, ..., None].long()
            most = min(tried, 1 + int(more.amax()) if looks(more) else left.shape[2])
            some = low + more * torch.arange(most, device=left.device) // max(most - 1, 1)
            new = torch.stack((found[..., :-1], least(crossed, some)), 4).flatten(3)
            found = torch.cat((new, found[..., -1:]), 3)
    return pad(crossed, (0, 1), value=1), left.gather(2, chosen.long()), found[:3]


def within(xs: Tensor, x: Tensor) -> Tensor:
    """The interval of xs that x is in."""
    i = torch.searchsorted(xs.contiguous(), x.contiguous(), right=True) - 1
    return i.clamp(0, xs.shape[-1] - 2)


def interpolated(x: Tensor, xs: Tensor, *lines: Tensor) -> list[Tensor]:
    """What functions are at x that have these values at xs, and are linear between them."""
    i = within(xs, x)
    x0, x1 = xs.gather(-1, i), xs.gather(-1, i + 1)
    part = share(x - x0, x1 - x0)
    return [torch.lerp(ys.gather(-1, i), ys.gather(-1, i + 1), part) for ys in lines]


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
