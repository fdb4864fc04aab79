"""Single-step multi-draft transport (OTM): one node's drafted tokens against one target token.

Variables S(i, t) >= 0, the mass with which the drawn tokens t yield token i of t; sum_t S(i, t) <=
p(i), sum_i S(i, t) <= Pr(t); maximise the sum. As a `Transport`: t to i, reward 1 where i is in t
(sun2023spectr, Section 3; hu2025towards, Section 3). Its optimum alpha* is also

    1 + min over sets H of tokens of  p(H) - Pr(all drafts in H)        (hu2025towards, Theorem 3)

and for i.i.d. draws, and draws without replacement, some prefix of the tokens sorted by q/p,
largest first, is a minimiser (hu2025towards, Section 4). Rows may hold rationals or floats.
"""

from collections.abc import Collection
from itertools import combinations

import numpy as np

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Row, likeliest, meet, one, supported, total, without
from draftproof.theory.transport.draws import Draws, without_replacement
from draftproof.theory.transport.problem import Transport


def problem(p: Row, draws: Draws) -> Transport:
    """The single-step problem as an exact transport; p is a rational row.

    >>> from draftproof.theory.numbers import exact
    >>> from draftproof.theory.transport.certificate import certified
    >>> from draftproof.theory.transport.draws import with_replacement
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> certified(problem(p, with_replacement(q, 2))).value
    8/9
    """
    tokens = [x for x, mass in enumerate(p) if mass > 0]
    rewards = np.array([[x in t for x in tokens] for t in draws], dtype=np.int64)
    return Transport(tuple(draws.values()), tuple(p[x] for x in tokens), rewards)


def linear_program(p: Row, draws: Draws) -> float:
    """alpha* by HiGHS on the program itself, with a variable for every token of every drawn set.

    >>> from draftproof.theory.transport.draws import with_replacement
    >>> round(linear_program((1 / 3, 2 / 3), with_replacement((2 / 3, 1 / 3), 2)), 9)
    0.888888889
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    edges = [(n, len(draws) + x) for n, t in enumerate(draws) for x in sorted(t)]
    at = np.array(edges).ravel()
    columns = np.repeat(np.arange(len(edges)), 2)
    rows = csr_array((np.ones(len(at)), (at, columns)), shape=(len(draws) + len(p), len(edges)))
    most = np.array([*map(float, draws.values()), *map(float, p)])
    found = linprog(-np.ones(len(edges)), A_ub=rows, b_ub=most, method="highs")
    if found.x is None:
        raise BadInput(f"HiGHS found no rule: {found.message}")
    return -float(found.fun)


def surplus(p: Row, draws: Draws, H: Collection[int]) -> Number:
    """p(H) - Pr(all drafts in H); alpha* is 1 plus its minimum over H, which is at most 0."""
    inside = set(H)
    zero = p[0] - p[0]
    drawn = sum((mass for t, mass in draws.items() if t <= inside), zero)
    return sum((p[x] for x in inside), zero) - drawn


def subset_formula(p: Row, draws: Draws) -> Number:
    """alpha* of any draws: 1 plus the least surplus of all 2^V sets of tokens.

    >>> from draftproof.theory.numbers import exact
    >>> from draftproof.theory.transport.draws import with_replacement
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> subset_formula(p, with_replacement(q, 2))
    8/9
    """
    sets = (H for size in range(len(p) + 1) for H in combinations(range(len(p)), size))
    return one(p) + min(surplus(p, draws, H) for H in sets)


def alpha(p: Row, q: Row, k: int, replacement: bool) -> tuple[Number, tuple[int, ...]]:
    """(alpha*, minimising H) for k draws from q: the subset formula along its greedy prefixes.

    O(V log V), but for three and more draws without replacement, which list their sets.

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> alpha(p, q, 2, replacement=True)
    (8/9, (0,))
    """
    order = by_ratio(p, q)
    drawn = prefix_draws(q, order, k, replacement)
    least = mass = p[0] - p[0]
    H = 0
    for n, x in enumerate(order, 1):
        mass = mass + p[x]
        if mass - drawn[n] < least:
            least, H = mass - drawn[n], n
    return one(p) + least, tuple(order[:H])


def by_ratio(p: Row, q: Row) -> list[int]:
    """Token ids by q/p, largest first; p = 0 counts as infinite, ties by id."""
    return sorted(range(len(p)), key=lambda x: (p[x] > 0, -q[x] / p[x] if p[x] > 0 else x))


def prefix_draws(q: Row, order: list[int], k: int, replacement: bool) -> list[Number]:
    """Pr(all k drafts among the first n tokens of `order`) for n = 0 .. V."""
    if k < 1:
        raise BadInput(f"a draft has at least one token, not {k}")
    zero = q[0] - q[0]
    mass = [zero]
    for x in order:
        mass.append(mass[-1] + q[x])
    support = supported(q)
    if not support:
        raise BadInput("nothing can be drawn from a proposal row without mass")
    if replacement or k == 1:
        return [number**k for number in mass]
    if k == 2 and support > 2:  # sum over x in H of q(x) (q(H) - q(x)) / (1 - q(x))
        first = second = zero
        out = [zero]
        for x, whole in zip(order, mass[1:], strict=True):
            odds = q[x] / (1 - q[x])
            first, second = first + odds, second + q[x] * odds
            out.append(whole * first - second)
        return out
    rank = {x: n for n, x in enumerate(order, 1)}
    out = [zero] * (len(order) + 1)
    for t, part in without_replacement(q, k).items():
        out[max(rank[x] for x in t)] += part
    for n in range(1, len(out)):
        out[n] = out[n - 1] + out[n]
    return out


def hu_greedy(p: Row, q: Row, n: int) -> Number:
    """alpha* of Hu et al.'s draft in closed form: p(T) + sum off T of min(p, norm(q off T)).

    Source: hu2025towards, Section 5.
    """
    top = likeliest(q, n - 1)
    return sum((p[x] for x in top), total(meet(p, without(q, *top))))
