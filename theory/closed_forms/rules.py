"""What node rules accept: the mass a(x, j) with which a node takes token x as its j-th child.

`ALIKE` rules do not tell the children of one token apart: they say j = 0, and are of use where
all subtrees of a node have one shape.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import TypeAlias

from flint import fmpq

from theory.numbers import ONE, ZERO
from theory.races import agreement, target_law
from theory.rows import Row, descending, excess, has_mass, meet, normalise, scale, total, without
from theory.transport.draws import without_replacement
from theory.transport.resolution import resolve
from theory.transport.selection import canonical, emitted, optimal_rule
from theory.verifiers.k_seq import geometric, smallest_rho

Accepted: TypeAlias = Iterator[tuple[int, int, fmpq]]
"""(token x, child j, mass a(x, j))."""

Rule: TypeAlias = Callable[[Row, Row, int], Accepted]
"""What a node with rows p, q and that many children accepts."""


def naive(p: Row, q: Row, count: int) -> Accepted:
    """`nss` and `one-hot`, i.i.d. siblings: p(x) where x first appears, (1 - q)^j q."""
    for x, mass in enumerate(p):
        for j in range(count):
            yield x, j, mass * q[x] * (1 - q[x]) ** j


def naive_without(p: Row, q: Row, count: int) -> Accepted:
    """`nss` and `one-hot`, siblings without replacement: p(x) Pr(x is drawn j-th)."""
    for x, j, mass in drawn_at(q, count):
        yield x, j, mass * p[x]


def naive_top(p: Row, q: Row, count: int) -> Accepted:
    """`nss` and `one-hot` on a deterministic tree: p of each drafted token."""
    for j, x in enumerate(descending(q)[:count]):
        if q[x] > ZERO:
            yield x, j, p[x]


def naive_greedy(p: Row, q: Row, count: int) -> Accepted:
    """`nss` and `one-hot` on Hu et al.'s draft: p(x), times its law for the sampled x."""
    first, top, rest = _greedy(q, count)
    yield from ((x, first + j, p[x]) for j, x in enumerate(top))
    yield from ((x, 0, p[x] * mass) for x, mass in enumerate(rest))


def naive_hub(p: Row, q: Row, count: int) -> Accepted:
    """`nss` and `one-hot` on the SpecHub pair: p(a), and p(x) norm(q off a)(x)."""
    hub = descending(q)[0]
    yield hub, 0, p[hub]
    yield from ((x, 0, p[x] * mass) for x, mass in enumerate(without(q, hub)))


def naive_tree(p: Row, q: Row, count: int) -> Accepted:
    """i.i.d. siblings: min(p, q) for the first; (p - q)+ where it first appears among the others."""
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, q)))
    for y, mass in enumerate(excess(p, q)):
        for j in range(1, count):
            yield y, j, mass * q[y] * (1 - q[y]) ** (j - 1)


def naive_tree_without(p: Row, q: Row, count: int) -> Accepted:
    """Siblings without replacement: after x was rejected the others are drawn without x."""
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, q)))
    residual = normalise(excess(p, q))
    for x, mass in enumerate(excess(q, p)):
        rest = without(q, x)
        if mass > ZERO and count > 1 and has_mass(rest):
            for y, j, at in drawn_at(rest, count - 1):
                yield y, j + 1, mass * at * residual[y]


def specinfer(p: Row, q: Row, count: int) -> Accepted:
    """min(p_j, q) times the chance that earlier children were rejected; p_{j+1} = norm((p_j - q)+)."""
    reach = ONE
    for j in range(count):
        kept = meet(p, q)
        yield from ((x, j, reach * mass) for x, mass in enumerate(kept))
        reach *= 1 - total(kept)
        p = normalise(excess(p, q))


def rrs(p: Row, q: Row, count: int, reach: fmpq = ONE, j: int = 0) -> Accepted:
    """min(p, q); after each rejected x, of mass (q - p)+(x), the same of norm((p - q)+) and q without x."""
    if j == count or not has_mass(q):
        return
    yield from ((x, j, reach * mass) for x, mass in enumerate(meet(p, q)))
    residual = normalise(excess(p, q))
    for x, mass in enumerate(excess(q, p)):
        if mass > ZERO:
            yield from rrs(residual, without(q, x), count, reach * mass, j + 1)


def k_seq(p: Row, q: Row, count: int) -> Accepted:
    """(1 - beta)^j min(p/rho, q); the rest of p where it first appears among rejected children."""
    kept = meet(scale(1 / smallest_rho(p, q, count), p), q)
    beta = total(kept)
    for j in range(count):
        yield from ((x, j, (1 - beta) ** j * mass) for x, mass in enumerate(kept))
    if beta < ONE:
        rejected = scale(1 / (1 - beta), excess(q, kept))
        for y, mass in enumerate(excess(p, scale(geometric(beta, count), kept))):
            for j in range(count):
                yield y, j, mass * rejected[y] * (1 - rejected[y]) ** j


def hu_greedy(p: Row, q: Row, count: int) -> Accepted:
    """p on the likeliest tokens, min(p, norm(q off them)) on the sampled one, which stands first."""
    first, top, rest = _greedy(q, count)
    yield from ((x, first + j, p[x]) for j, x in enumerate(top))
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, rest)))


def spechub(p: Row, q: Row, count: int) -> Accepted:
    """The hub with p(a), every other token with min(p, norm(q off a)); both subtrees have one shape."""
    hub = descending(q)[0]
    yield hub, 0, p[hub]
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, without(q, hub))) if x != hub)


def gls(p: Row, q: Row, count: int) -> Accepted:
    """Pr(Y = y and some draft is y), by the law of the races; subtrees of one shape."""
    if count == 1:
        yield from by_token(agreement(p, q))
        return
    tokens = [x for x, mass in enumerate(q) if mass > ZERO]
    for drafts in product(tokens, repeat=count):
        law = target_law(p, q, drafts)
        yield from ((y, 0, law[y]) for y in set(drafts))


def optimal_transport(replacement: bool) -> Rule:
    """What the optimal plan gives each token, alpha* in all; subtrees of one shape."""
    return lambda p, q, count: by_token(emitted(optimal_rule(p, q, count, replacement).plan, p))


def khisti(replacement: bool) -> Rule:
    """min(p, d), d the selected token's law, alpha* in all; subtrees of one shape."""
    return lambda p, q, count: by_token(meet(p, canonical(p, q, count, replacement).law))


def global_resolution(p: Row, q: Row, count: int) -> Accepted:
    """min(p, d), d the law of the token that the softmax rule selects; subtrees of one shape."""
    return by_token(meet(p, resolve(p, q, count).law))


def drawn_at(q: Row, count: int) -> Accepted:
    """(x, j, Pr(x is drawn j-th)) of draws without replacement, j from 0."""
    support = sum(mass > ZERO for mass in q)
    for j in range(min(count, support)):
        before = without_replacement(q, j) if j else {frozenset[int](): ONE}
        for x, mass in enumerate(q):
            odds = (part / (1 - sum((q[y] for y in t), ZERO)) for t, part in before.items() if x not in t)
            yield x, j, mass * sum(odds, ZERO)


def by_token(row: Row) -> Accepted:
    """The masses by token, for rules that do not tell copies apart."""
    return ((x, 0, mass) for x, mass in enumerate(row))


def _greedy(q: Row, count: int) -> tuple[int, list[int], Row]:
    # (place of the first likeliest token, the likeliest, the law of the sampled one, maybe without mass)
    top = [x for x in descending(q)[: count - 1] if q[x] > ZERO]
    for x in top:
        q = without(q, x)
    return int(has_mass(q)), top, q


_WITH, _WITHOUT = "tree with replacement", "tree without replacement"
_CHAIN = "chain"
_OPTIMAL = ("k-seq", "optimal-transport", "khisti", "global-resolution")
"""Rules that take min(p, q) of a single draw."""

RULES: dict[Rule, list[tuple[str, str]]] = {
    specinfer: [
        *((name, _CHAIN) for name in ("token", "specinfer", "rrs", "naive-tree", *_OPTIMAL)),
        ("specinfer", _WITH),
    ],
    naive: [
        ("sampling-match", _CHAIN),
        *((name, label) for name in ("nss", "one-hot") for label in (_CHAIN, _WITH)),
    ],
    naive_without: [("nss", _WITHOUT), ("one-hot", _WITHOUT)],
    naive_greedy: [("nss", "greedy"), ("one-hot", "greedy")],
    naive_hub: [("nss", "spechub"), ("one-hot", "spechub")],
    naive_top: [("nss", "top-k"), ("one-hot", "top-k")],
    naive_tree: [("naive-tree", _WITH)],
    naive_tree_without: [("naive-tree", _WITHOUT)],
    rrs: [("rrs", _WITHOUT)],
    k_seq: [("k-seq", _WITH)],
    hu_greedy: [("hu-greedy", "greedy")],
    spechub: [("spechub", "spechub")],
}
"""Rule -> the (verifier name, label of the draft) that it describes."""

ALIKE: dict[Rule, list[tuple[str, str]]] = {
    gls: [("gls", _CHAIN), ("gls", _WITH)],
    optimal_transport(True): [("optimal-transport", _WITH)],
    optimal_transport(False): [("optimal-transport", _WITHOUT)],
    khisti(True): [("khisti", _WITH)],
    khisti(False): [("khisti", _WITHOUT)],
    global_resolution: [("global-resolution", _WITH)],
}
