"""Upper bounds on Pr(tau >= l) that hold for every verifier, computed from single drafts.

They are exact on chains and deterministic trees, unbiased estimates on sampled trees (docs/real-models.md).
Draws without replacement are the order in which independent exponential times with rates q arrive. Let Q be
the mass outside a set, c_j(t) the probability that exactly j of the set have arrived by t. Then

    Pr(k draws are not all in the set) = Q (I_0 + ... + I_{k-1}),   I_j = integral of exp(-Q t) c_j(t) dt.

The first two terms are Q and Q sum q_y / (1 - q_y); the others are integrated over log t. exp(-Q t) c_j(t) is
exp(-t) times the j-th elementary symmetric polynomial of exp(q_y t) - 1, y in the set. The k - 1 likeliest
tokens would make that overflow, so the cases of which of them have arrived are summed separately. All terms
are positive.
"""

from itertools import product
from math import ceil
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.residual import pick, share
from draftproof.gpu.verify.verifier import level_law

Shape: TypeAlias = "tuple[Shape, ...]"

STEP = 0.3
"""Step of the trapezoidal rule in log t. Its error falls as exp(-pi^2 / STEP) and is below 1e-11 here."""
SMALLEST, LARGEST = -10.0, 40.0
"""log t at the first node, and the exponent at the last: t^3 and 40^4 exp(-40) / 4! are below 1e-12."""


def chain_odds(target: Tensor, proposal: Tensor, tokens: Tensor, capped: bool) -> Tensor:
    """[B, gamma]: the largest possible Pr(tau >= l) given the draft up to l - 1, averaged over token l.

    The value is the sum over x of min(q(x), w p(x)). With `capped`, w = min(1, w rho) along the drafted
    tokens: this is block verification's value, the optimum of valid verification of one path in one iteration
    ("stateless"). Otherwise w is the uncapped product R: this is the mass min(p(x^l), q(x^l)) of block
    transport ("full information"), divided by q. Source: sun2025block.
    """
    w = torch.ones_like(target[:, 0, 0]).double()
    odds = []
    for i in range(tokens.shape[1]):
        p, q = target[:, i].double(), proposal[:, i].double()
        odds.append(torch.minimum(q, w[:, None] * p).sum(-1))
        x = tokens[:, i : i + 1].clamp(min=0)
        p_x, q_x = p.gather(1, x)[:, 0], q.gather(1, x)[:, 0]
        w = share(w * p_x, q_x) if capped else torch.where(q_x > 0, w * p_x / q_x, 0.0)
    return torch.stack(odds, 1) * (tokens >= 0).cumprod(1)


def covered(tree: Tree, target: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: the target's mass on the drafted words of each length. On a deterministic draft this is
    Pr(tau >= l) of every lossless rule, with or without full information.
    """
    parents = tree.parents.expand(len(tokens), -1)
    x = torch.cat((torch.zeros_like(tokens[:, :1]), tokens.clamp(min=0)), 1)
    mass = pick(target, parents).gather(2, x[..., None])[..., 0].double()
    mass[:, 0] = 1
    for i in range(1, tree.size):
        mass[:, i] *= mass.gather(1, parents[:, i : i + 1])[:, 0]
    return level_law(tree, torch.where(tree.drawn(tokens), mass, 0.0))[:, 1:]


def tree_odds(
    planned: Tree, tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor, strata: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """([B, depth], [B, depth]): unbiased estimates, from each sampled draft, of bounds on Pr(tau >= 1), ...,
    Pr(tau >= depth): for verifiers valid in one iteration ("stateless") and for all ("full information").

    `planned` is the tree as it is drawn; `tree` differs from it if i.i.d. paths were merged. For any set H of
    tokens, with esc(H) the probability that the draft contains a word w x with x outside H,


        Pr(tau > |w|, w accepted) <= C(w) p(H|w) + esc(H).


    With full information C(w) = p(w); if every iteration is valid by itself, C(root) = 1 and C(w x) =
    min(C(w) p(x|w), probability that the draft contains w x). The minimum is taken over the prefixes H of the
    tokens sorted by q/p, largest first. A word w that the draft extends contributes its minimum divided by
    the probability that the draft extends w. On one level both bounds are the optimum (hu2025towards, Theorem
    3); on a chain they are block verification's value and block transport's (sun2025block); on deeper trees
    they are bounds and may exceed the optimum.

    For stratified trees, with `strata` as in `verify.Drafts`, a second bound on the same probability is the
    sum over x of min(C(w) p(x|w), probability that the draft contains w x), on one level sum min(p, pi), and
    the smaller one counts. All nodes of a level must have as many children: proposal and strata of a word are
    known for as many siblings only as were drawn there.
    """
    B, levels = len(tokens), tree.levels[0].tolist()
    parents, rows = tree.parents.expand(B, -1), tree.rows.expand(B, -1)
    shape, counted = _nested(planned.parents[0].tolist(), 0), _words(planned, tree, tokens)
    children = [planned.parents[:, 1:] == nodes[:, None] for nodes in planned.generations]
    draws = [1 if planned.replacement else int(each.sum(1).max()) for each in children]  # per level
    alone = planned.replacement or planned.stratified  # siblings are drawn independently of each other
    most = target.new_ones(2, B, tree.size, dtype=torch.float64)  # C of each node
    steps = most.new_zeros(B, tree.size, max(draws))  # per node: the probability that draw j gives its token
    found = most.new_zeros(2, B, tree.depth)
    for node, level in enumerate(levels):
        if 0 < level < tree.depth:
            up, x = parents[:, node : node + 1], tokens[:, node - 1 : node].clamp(min=0)
            at = rows.gather(1, up)
            p, q = pick(target, up)[:, 0].double(), pick(proposal, at)[:, 0]
            if strata is None:
                among = included(q, x[:, 0], draws[level - 1])  # the first draw, the first two, ...
                steps[:, node, : draws[level - 1]] = among.diff(prepend=torch.zeros_like(x))
            else:
                among = siblings(q, pick(strata, at)[:, 0], draws[level - 1])[torch.arange(B), x[:, 0]]
                steps[:, node, : draws[level - 1]] = among
            path = _path(steps, parents, up, level - 1)
            held = _odds(shape, path, among[:, None], alone)[:, 0]
            here = most.gather(2, up.expand(2, -1, -1))[..., 0] * p.gather(1, x)[:, 0]
            most[:, :, node] = torch.stack((here[0].minimum(held), here[1]))
        if level < tree.depth and bool(counted[:, node].any()):
            p, q = target[:, node].double(), pick(proposal, rows[:, node : node + 1])[:, 0].double()
            order = torch.where(p > 0, q / p, torch.inf).argsort(dim=-1, descending=True, stable=True)
            inside = (p / p.sum(-1, keepdim=True)).gather(1, order).cumsum(-1)
            inside = torch.cat((inside.new_zeros(B, 1), inside), -1)
            path = _path(steps, parents, torch.full_like(parents[:, :1], node), level)
            if strata is None:
                off, pairs = escapes(q.gather(1, order), draws[level]), None
            else:
                pairs = siblings(q, pick(strata, rows[:, node : node + 1])[:, 0], draws[level])
                off = pairs.gather(1, order[..., None].expand_as(pairs)).flip(1).cumsum(1).flip(1)
                off = pad(off, (0, 0, 0, 1)).clamp(max=1)
            outside = _odds(shape, path, off, alone)
            bound = (most[:, :, node, None] * inside + outside).amin(-1)
            if pairs is not None:
                kept = torch.minimum(most[:, :, node, None] * p, _odds(shape, path, pairs, alone))
                bound = bound.minimum(kept.sum(-1))
            found[:, :, level] += torch.where(counted[:, node], bound / outside[:, 0], 0.0)
    return found[0], found[1]


def siblings(mean: Tensor, strata: Tensor, most: int) -> Tensor:
    """[B, V, most]: the row of each sibling, from the mean of the strata [B, V] and the places of tokens in
    them, as in `gpu.strata`; zeros for a sibling that is not drawn.
    """
    first, f = strata.floor(), strata.frac().double()
    shares = [torch.where(first == j, 1 - f, torch.where(first == j - 1, f, 0.0)) for j in range(most)]
    found = mean.double()[..., None] * torch.stack(shares, -1)
    total = found.sum(1, keepdim=True)
    return found / torch.where(total > 0, total, 1.0)


def _odds(shape: Shape, path: list[Tensor], off: Tensor, alone: bool) -> Tensor:
    """[B, n]: the probability that a tree of this shape contains a word followed by the n-th set of tokens.
    The word is given by one entry of `path` [B, width] per token, the last token by off [B, n, width].

    Siblings that are drawn alone, each independently, have a probability each, or one for all of them.
    Otherwise the entries of `off` are for the first draw, the first two, and so on; those of `path` are their
    differences.
    """
    none = torch.zeros_like(off[..., 0])
    if not shape:
        return none
    if not path:
        if not alone:
            return off[..., len(shape) - 1]
        each = off[..., : len(shape)].expand(*off.shape[:-1], len(shape))
        return -torch.expm1(torch.log1p(-each).sum(-1))
    step, *rest = path
    below = {child: _odds(child, rest, off, alone) for child in set(shape)}
    if not alone:
        return sum((step[:, j : j + 1] * below[child] for j, child in enumerate(shape)), none)
    steps = step[:, : len(shape)].expand(-1, len(shape))
    parts = (torch.log1p(-steps[:, j : j + 1] * below[child]) for j, child in enumerate(shape))
    return -torch.expm1(sum(parts, none))


def _path(steps: Tensor, parents: Tensor, at: Tensor, level: int) -> list[Tensor]:
    """The entries of `steps` along the path from the root's child to the nodes `at` [B, 1] of that level."""
    path = []
    for _ in range(level):
        path.append(pick(steps, at)[:, 0])
        at = parents.gather(1, at)
    return path[::-1]


def _words(planned: Tree, tree: Tree, tokens: Tensor) -> Tensor:
    """[B, N]: the nodes that the draft extends, one node for each word that several nodes spell."""
    B, N = len(tokens), tree.size
    parents = tree.parents.expand(B, -1)
    goes_on = torch.zeros(N, dtype=torch.bool, device=tokens.device)
    goes_on[planned.parents[0, 1:].to(tokens.device)] = True
    counted = tree.drawn(tokens) & goes_on
    word = torch.zeros_like(parents)  # the first node that spells the same word
    for node in range(1, N):
        up = word.gather(1, parents[:, 1 : node + 1])
        same = (tokens[:, :node] == tokens[:, node - 1 : node]) & (up == up[:, -1:])
        word[:, node] = 1 + same.long().argmax(1)
        earlier = (word[:, 1:node] == word[:, node : node + 1]) & counted[:, 1:node]
        counted[:, node] &= ~earlier.any(1)
    return counted


def _nested(parents: list[int], node: int) -> Shape:
    """The subtree below a node as nested tuples of children."""
    below = range(node + 1, len(parents))
    return tuple([_nested(parents, child) for child in below if parents[child] == node])


def escapes(q: Tensor, most: int) -> Tensor:
    """[..., V + 1, most]: entry (n, k - 1) is the probability that k draws without replacement from q are not
    all among its first n tokens. Float64; q [..., V] holds masses, zeros among them, normalised here.
    """
    q, odds = _normalised(q)
    off = pad(q.flip(-1).cumsum(-1).flip(-1), (0, 1))
    parts = [off, off * pad(odds.cumsum(-1), (1, 0))]
    if most > 2:
        later = _integrals(q.flatten(0, -2), off[..., 1:].flatten(0, -2), most, slice(None))
        parts += [pad(part.view(q.shape), (1, 0)) for part in later]
    return torch.stack(parts[:most], -1).cumsum(-1).clamp(max=1)


def included(q: Tensor, x: Tensor, most: int) -> Tensor:
    """[..., most]: the probability that x is among 1, ..., most draws without replacement from q [..., V]."""
    q, odds = _normalised(q)
    x = x[..., None]
    off = q.gather(-1, x)
    parts = [off[..., 0], (off * odds.scatter(-1, x, 0.0).sum(-1, keepdim=True))[..., 0]]
    if most > 2:
        behind = torch.cat((q.scatter(-1, x, q[..., -1:])[..., :-1], off), -1)  # x is moved to the end
        later = _integrals(behind.flatten(0, -2), off.flatten(0, -2), most, slice(-2, -1))
        parts += [part.view(parts[0].shape) for part in later]
    return torch.stack(parts[:most], -1).cumsum(-1).clamp(max=1)


def _normalised(q: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of mass 1 in float64, and q_y / (1 - q_y), or 0 if y is the only token."""
    q = q.double()
    q = q / q.sum(-1, keepdim=True)
    before, behind = q.cumsum(-1)[..., :-1], q.flip(-1).cumsum(-1).flip(-1)[..., 1:]
    others = pad(before, (1, 0)) + pad(behind, (0, 1))
    return q, torch.where(others > 0, q / others, 0.0)


def _integrals(q: Tensor, off: Tensor, most: int, which: slice) -> list[Tensor]:
    """Q I_2 ... Q I_{most - 1} of sets of the first 1, ..., V tokens of q [R, V], of which `which` picks n;
    off [R, n] is Q, the mass outside each.
    """
    rates, likeliest = q.topk(min(most - 1, q.shape[-1]))
    light = q.scatter(-1, likeliest, 0.0)
    rest, least = light.sum(-1, keepdim=True), torch.where(q > 0, q, 1.0).amin(-1, keepdim=True)
    last = (LARGEST / torch.where(rest > 0, rest, least)).log()
    nodes = torch.arange(ceil((float(last.max()) - SMALLEST) / STEP) + 1, dtype=q.dtype, device=q.device)
    among = torch.arange(q.shape[-1], device=q.device)[which] >= likeliest[..., None]  # [R, k - 1, n]
    sums = off.new_zeros(most, *off.shape)
    for some in nodes.split(max(1, 2**15 // q.numel())):  # tables that fit into the CPU's cache
        t = (last - STEP * some).exp()  # [R, T]
        density = STEP * t * torch.exp(-rest * t)
        exponent = -rates[..., None] * t[:, None]
        arrived, missing = -torch.expm1(exponent), torch.exp(exponent)
        parts = [each[..., which] for each in _symmetric(torch.expm1(light[:, None] * t[..., None]), most)]
        for subset in product((False, True), repeat=rates.shape[-1]):  # which of the likeliest have arrived
            weight, inside = density, torch.ones_like(off)
            for h, has_arrived in enumerate(subset):
                weight = weight * (arrived if has_arrived else missing)[:, h]
                inside = inside * among[:, h] if has_arrived else inside
            for j in range(max(2, sum(subset)), most):
                sums[j] += inside * (weight[:, None] @ parts[j - sum(subset)])[:, 0]
    return list(off * sums[2:])


def _symmetric(values: Tensor, most: int) -> list[Tensor]:
    """[..., V] each: the elementary symmetric polynomials 0 ... most - 1 of the first 1, 2, ... values."""
    found = [torch.ones_like(values), values.cumsum(-1)]
    while len(found) < most:
        found.append(pad(values[..., 1:] * found[-1][..., :-1], (1, 0)).cumsum(-1))
    return found
