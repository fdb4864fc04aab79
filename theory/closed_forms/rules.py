"""What node rules accept: the mass a(x, j) with which a node takes token x as its j-th child.

`ALIKE` rules do not tell the children of one token apart: they say j = 0, and are of use where
all subtrees of a node have one shape.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import TypeAlias

from flint import fmpq

from draftproof.theory.closed_forms import drawn
from draftproof.theory.closed_forms.drawn import Drawn
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.races import agreement, target_law
from draftproof.theory.rows import Row, excess, has_mass, meet, normalise, scale, total, without
from draftproof.theory.transport.resolution import resolve
from draftproof.theory.transport.selection import canonical, emitted, optimal_rule
from draftproof.theory.verifiers.k_seq import geometric, smallest_rho

Accepted: TypeAlias = Iterator[tuple[int, int, fmpq]]
"""(token x, child j, mass a(x, j))."""

Rule: TypeAlias = Callable[[Row, Row, int], Accepted]
"""What a node with rows p, q and that many children accepts."""


def naive(law: Callable[[Row, int], Drawn]) -> Rule:
    """`nss` and `one-hot`: p(x) where x first stands among the children."""
    return lambda p, q, count: ((x, j, p[x] * mass) for x, j, mass in law(q, count))


def met(law: Callable[[Row, int], Drawn]) -> Rule:
    """`hu-greedy` and `spechub`: p on the tokens that are always drawn, min(p, q~) on the sampled one."""
    return lambda p, q, count: ((x, j, min(p[x], mass)) for x, j, mass in law(q, count))


def naive_tree(p: Row, q: Row, count: int) -> Accepted:
    """i.i.d. siblings: min(p, q) for the first; (p - q)+ where it first appears among the others."""
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, q)))
    left = excess(p, q)
    yield from ((y, j + 1, left[y] * mass) for y, j, mass in drawn.with_replacement(q, count - 1))


def naive_tree_without(p: Row, q: Row, count: int) -> Accepted:
    """Siblings without replacement: after x was rejected the others are drawn without x."""
    yield from ((x, 0, mass) for x, mass in enumerate(meet(p, q)))
    residual = normalise(excess(p, q))
    for x, mass in enumerate(excess(q, p)):
        rest = without(q, x)
        if mass > ZERO and count > 1 and has_mass(rest):
            for y, j, at in drawn.without_replacement(rest, count - 1):
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
        left = excess(p, scale(geometric(beta, count), kept))
        yield from ((y, j, left[y] * mass) for y, j, mass in drawn.with_replacement(rejected, count))


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


def by_token(row: Row) -> Accepted:
    """The masses by token, for rules that do not tell copies apart."""
    return ((x, 0, mass) for x, mass in enumerate(row))


_WITH, _WITHOUT = "tree with replacement", "tree without replacement"
_FIRST_DRAWN = {
    "chain": drawn.with_replacement,
    _WITH: drawn.with_replacement,
    _WITHOUT: drawn.without_replacement,
    "top-k": drawn.top,
    "greedy": drawn.greedy,
    "spechub": drawn.hub,
}
_OF_ONE = (
    *("token", "specinfer", "rrs", "naive-tree"),
    *("k-seq", "optimal-transport", "khisti", "global-resolution"),
)
"""Rules that take min(p, q) of a single draw."""

RULES: dict[tuple[str, str], Rule] = {
    **{(name, "chain"): specinfer for name in _OF_ONE},
    ("sampling-match", "chain"): naive(drawn.with_replacement),
    **{(name, label): naive(law) for name in ("nss", "one-hot") for label, law in _FIRST_DRAWN.items()},
    ("specinfer", _WITH): specinfer,
    ("naive-tree", _WITH): naive_tree,
    ("naive-tree", _WITHOUT): naive_tree_without,
    ("rrs", _WITHOUT): rrs,
    ("k-seq", _WITH): k_seq,
    ("hu-greedy", "greedy"): met(drawn.greedy),
    ("spechub", "spechub"): met(drawn.hub),
}
"""(verifier name, label of the draft) -> what it accepts."""

ALIKE: dict[tuple[str, str], Rule] = {
    ("gls", "chain"): gls,
    ("gls", _WITH): gls,
    ("optimal-transport", _WITH): optimal_transport(True),
    ("optimal-transport", _WITHOUT): optimal_transport(False),
    ("khisti", _WITH): khisti(True),
    ("khisti", _WITHOUT): khisti(False),
    ("global-resolution", _WITH): global_resolution,
}
