"""Closed forms of E[tau] for rules that go down node by node.

With a(x, j) the mass with which a node accepts token x as its j-th child,

    E(v, shape) = sum over x, j of a(x, j) (1 + E(vx, shape_j)).

On K paths merged by prefix, j is the number of the node's paths that continue with x: the K tokens below a
node are i.i.d., and the subtree below x depends on how many of them are x.
"""

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from operator import getitem
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, chain, every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import (
    Prefix,
    Row,
    excess,
    has_mass,
    likeliest,
    meet,
    normalise,
    scale,
    share,
    supported,
    total,
    without,
)
from draftproof.theory.shared.races import agreement, target_law
from draftproof.theory.shared.strata import strata
from draftproof.theory.transport.resolution import resolve
from draftproof.theory.transport.siblings import set_law
from draftproof.theory.transport.single_step import Selection, canonical, emitted, optimal_rule
from draftproof.theory.values import arrays
from draftproof.theory.verifiers.k_seq import geometric, smallest_rho
from draftproof.theory.verifiers.shared.priority import token_by_token

Masses: TypeAlias = Iterator[tuple[int, int, fmpq]]
"""(token x, place j, mass): a rule's a(x, j), or a draft's probability that x first appears at place j."""

Rule: TypeAlias = Callable[[Row, Row, int], Masses]
"""(p, q, number of children) -> the masses that a node accepts."""

Select: TypeAlias = Callable[[Row, Row, int], Selection]
"""(p, q, number of drafts) -> the rule that selects one of them."""


def by_nodes(
    rule: Rule, *, even: bool = False, below: Callable[[Shape, int], Shape] = getitem
) -> Callable[[Instance], fmpq]:
    """E[tau] of a node rule. `below(shape, j)` is the shape below an accepted token. `even`: the rule
    requires that all subtrees of a node have the same shape.
    """

    def form(instance: Instance) -> fmpq:
        shape = shape_of(instance.draft)
        if even and not alike(shape):
            raise BadInput("no closed form of E[tau] if a node's subtrees differ in shape")

        def mean(prefix: Prefix, shape: Shape) -> fmpq:
            if not shape:
                return ZERO
            accepted: dict[tuple[int, Shape], fmpq] = {}
            for x, j, mass in rule(instance.target[prefix], instance.proposal[prefix], len(shape)):
                if mass > ZERO:
                    key = x, below(shape, j)
                    accepted[key] = accepted.get(key, ZERO) + mass
            return sum((mass * (1 + mean((*prefix, x), rest)) for (x, rest), mass in accepted.items()), ZERO)

        return mean((), shape)

    return form


def shape_of(draft: Scheme) -> Shape:
    """The shape of a draft below its root."""
    if isinstance(draft, Chain):
        return chain(draft.depth)
    if isinstance(draft, Paths):
        return (chain(draft.depth - 1),) * draft.count
    if isinstance(draft, BestFirst):
        raise BadInput("no closed form for trees whose shape is drawn")
    return every(2, draft.depth) if isinstance(draft, SpecHub) else draft.shape  # type: ignore[attr-defined]


def alike(shape: Shape) -> bool:
    """Whether the subtrees of every node have equal shapes."""
    return all(below == shape[0] for below in shape) and (not shape or alike(shape[0]))


# The first place of a token among the children of a node, for each way of drawing them.


def iid(q: Row, count: int) -> Masses:
    """i.i.d. siblings: q (1 - q)^j."""
    for x, mass in enumerate(q):
        for j in range(count):
            yield x, j, mass * (1 - mass) ** j


def distinct(q: Row, count: int) -> Masses:
    """Without replacement: the mean of q(x) / (1 - mass of the j earlier tokens), over these tokens."""
    for j in range(min(count, supported(q))):
        before = set_law(q, j, False) if j else {frozenset[int](): ONE}
        for x, mass in enumerate(q):
            odds = (part / (1 - sum((q[y] for y in t), ZERO)) for t, part in before.items() if x not in t)
            yield x, j, mass * sum(odds, ZERO)


def stratified(q: Row, count: int) -> Masses:
    """R_j(x) where the stratum before, the only other one that can have x, did not draw it."""
    before = (ZERO,) * len(q)
    for j, row in enumerate(strata(q, count)):
        yield from ((x, j, mass * (1 - before[x])) for x, mass in enumerate(row))
        before = row


def top(q: Row, count: int) -> Masses:
    """The likeliest tokens, always."""
    return ((x, j, ONE) for j, x in enumerate(likeliest(q, count)))


def greedy(q: Row, count: int) -> Masses:
    """Hu et al.'s draft: one token sampled from all but the likeliest (if any), then the likeliest."""
    tops = likeliest(q, count - 1)
    rest = without(q, *tops)
    yield from ((x, 0, mass) for x, mass in enumerate(rest))
    yield from ((x, j, ONE) for j, x in enumerate(tops, int(has_mass(rest))))


def hub(q: Row, count: int) -> Masses:
    """The SpecHub pair: always the hub a, and a token from norm(q off a); j = 0 for both."""
    (a,) = likeliest(q, 1)
    yield a, 0, ONE
    yield from ((x, 0, mass) for x, mass in enumerate(without(q, a)))


# The masses that a node accepts as its j-th child.


def from_target(law: Callable[[Row, int], Masses]) -> Rule:
    """`nss` and `one-hot`: p(x) at the first place of x among the children."""
    return lambda p, q, count: ((x, j, p[x] * mass) for x, j, mass in law(q, count))


def one_sampled(law: Callable[[Row, int], Masses]) -> Rule:
    """`hu-greedy` and `spechub`: p on the tokens that are always drawn, min(p, q~) on the sampled one."""
    return lambda p, q, count: ((x, j, min(p[x], mass)) for x, j, mass in law(q, count))


def naive_tree(p: Row, q: Row, count: int) -> Masses:
    """i.i.d. siblings: min(p, q) for the first child; (p - q)+ at a token's first place among the others."""
    yield from by_token(meet(p, q))
    left = excess(p, q)
    yield from ((y, j + 1, left[y] * mass) for y, j, mass in iid(q, count - 1))


def naive_tree_without(p: Row, q: Row, count: int) -> Masses:
    """Siblings without replacement: after x was rejected the others are drawn without x."""
    yield from by_token(meet(p, q))
    residual = normalise(excess(p, q))
    for x, mass in enumerate(excess(q, p)):
        rest = without(q, x)
        if mass > ZERO and count > 1 and has_mass(rest):
            yield from ((y, j + 1, mass * at * residual[y]) for y, j, at in distinct(rest, count - 1))


def specinfer(p: Row, q: Row, count: int) -> Masses:
    """min(p_j, q) times the probability that earlier children were rejected; p_{j+1} = norm((p_j - q)+)."""
    exact = np.array(p, dtype=object), np.array(q, dtype=object)
    for j, kept in enumerate(arrays.specinfer(*exact, count)):
        yield from ((x, j, mass) for x, mass in enumerate(kept))


def rrs(p: Row, q: Row, count: int, reach: fmpq = ONE, j: int = 0) -> Masses:
    """min(p, q); after a rejected x (mass (q - p)+(x)), recursively with norm((p - q)+) and q without x."""
    if j == count or not has_mass(q):
        return
    yield from ((x, j, reach * mass) for x, mass in enumerate(meet(p, q)))
    residual = normalise(excess(p, q))
    for x, mass in enumerate(excess(q, p)):
        if mass > ZERO:
            yield from rrs(residual, without(q, x), count, reach * mass, j + 1)


def priority(laws: Callable[[Row, int], tuple[Row, ...]]) -> Rule:
    """What the plan keeps of token x as the j-th child."""

    def rule(p: Row, q: Row, count: int) -> Masses:
        return ((x, j, mass) for (x, j), mass in token_by_token(p, laws(q, count)).mass.items())

    return rule


def k_seq(p: Row, q: Row, count: int) -> Masses:
    """(1 - beta)^j min(p/rho, q); the rest of p at a token's first place among rejected children."""
    kept = meet(scale(1 / smallest_rho(p, q, count), p), q)
    beta = total(kept)
    for j in range(count):
        yield from ((x, j, (1 - beta) ** j * mass) for x, mass in enumerate(kept))
    if beta < ONE:
        rejected = scale(1 / (1 - beta), excess(q, kept))
        left = excess(p, scale(geometric(beta, count), kept))
        yield from ((y, j, left[y] * mass) for y, j, mass in iid(rejected, count))


# The masses accepted if all subtrees of a node have the same shape: j does not matter and is 0.


def by_token(row: Row) -> Masses:
    """The masses by token."""
    return ((x, 0, mass) for x, mass in enumerate(row))


def optimal_transport(replacement: bool) -> Rule:
    """The masses that the optimal plan gives the tokens; they sum to alpha*."""
    return lambda p, q, count: by_token(emitted(optimal_rule(p, q, count, replacement).plan, p))


def selecting(select: Select) -> Rule:
    """`khisti` and `global-resolution`: min(p, d), d the law of the token that is selected."""
    return lambda p, q, count: by_token(meet(p, select(p, q, count).law))


# The masses that a node with i.i.d. drafts accepts: j is the number of drafts that equal the token.


def gls(p: Row, q: Row, count: int) -> Masses:
    """Pr(Y = y and j drafts are y), by the law of the races."""
    if count == 1:
        yield from ((x, 1, mass) for x, mass in enumerate(agreement(p, q)))
        return
    for drafts, _ in _drafts(q, count):
        law = target_law(p, q, drafts)
        yield from ((y, drafts.count(y), law[y]) for y in set(drafts))


def optimal_transport_paths(p: Row, q: Row, count: int) -> Masses:
    """S(x, t) / Pr(t) of the drafts of every set t."""
    rule = optimal_rule(p, q, count, True)
    for drafts, mass in _drafts(q, count):
        drawn = frozenset(drafts)
        for x, part in rule.plan[drawn].items():
            yield x, drafts.count(x), mass * part / rule.draws[drawn]


def selecting_paths(select: Select) -> Rule:
    """`khisti` and `global-resolution`: min(1, p/d) of the token that is selected."""

    def rule(p: Row, q: Row, count: int) -> Masses:
        selection = select(p, q, count)
        for drafts, mass in _drafts(q, count):
            for x, part in selection.weights[frozenset(drafts)].items():
                yield x, drafts.count(x), mass * part * share(p[x], selection.law[x])

    return rule


def _drafts(q: Row, count: int) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    # (tokens, probability) of i.i.d. draws.
    for drafts in product([x for x, mass in enumerate(q) if mass > ZERO], repeat=count):
        yield drafts, prod((q[x] for x in drafts), start=ONE)


def shared_paths(shape: Shape, j: int) -> Shape:
    """The shape below a token with which j of a node's paths, all of one length, continue."""
    return shape[0] * j


WITH, WITHOUT = "tree with replacement", "tree without replacement"
FIRST_PLACE = {
    "chain": iid,
    WITH: iid,
    WITHOUT: distinct,
    "top-k": top,
    "greedy": greedy,
    "spechub": hub,
    "stratified": stratified,
}
ONE_DRAW = [
    "token",
    "specinfer",
    "rrs",
    "naive-tree",
    "k-seq",
    "optimal-transport",
    "khisti",
    "global-resolution",
    "priority",
    "optimal",
]
"""Rules that accept min(p, q) of a single draw."""

BY_CHILD: dict[tuple[str, str], Rule] = {
    **{(name, "chain"): specinfer for name in ONE_DRAW},
    ("sampling-match", "chain"): from_target(iid),
    **{(name, label): from_target(law) for name in ("nss", "one-hot") for label, law in FIRST_PLACE.items()},
    ("specinfer", WITH): specinfer,
    ("naive-tree", WITH): naive_tree,
    ("naive-tree", WITHOUT): naive_tree_without,
    ("rrs", WITHOUT): rrs,
    ("k-seq", WITH): k_seq,
    ("hu-greedy", "greedy"): one_sampled(greedy),
    ("spechub", "spechub"): one_sampled(hub),
    ("priority", WITH): priority(lambda q, count: (q,) * count),
    ("priority", "stratified"): priority(strata),
}
EVEN: dict[tuple[str, str], Rule] = {
    ("gls", "chain"): gls,
    ("gls", WITH): gls,
    ("optimal-transport", WITH): optimal_transport(True),
    ("optimal-transport", WITHOUT): optimal_transport(False),
    ("khisti", WITH): selecting(lambda p, q, count: canonical(p, q, count, True)),
    ("khisti", WITHOUT): selecting(lambda p, q, count: canonical(p, q, count, False)),
    ("global-resolution", WITH): selecting(resolve),
}
ON_PATHS: dict[tuple[str, str], Rule] = {
    ("gls", "paths"): gls,
    ("optimal-transport", "paths"): optimal_transport_paths,
    ("khisti", "paths"): selecting_paths(lambda p, q, count: canonical(p, q, count, True)),
    ("global-resolution", "paths"): selecting_paths(resolve),
}
FORMS = {
    **{key: by_nodes(rule) for key, rule in BY_CHILD.items()},
    **{key: by_nodes(rule, even=True, below=lambda shape, j: shape[0]) for key, rule in EVEN.items()},
    **{key: by_nodes(rule, below=shared_paths) for key, rule in ON_PATHS.items()},
}
"""(verifier name, label of the draft) -> E[tau] of an instance."""
