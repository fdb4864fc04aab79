"""What a node accepts by design and verifier, from one pair of rows over a large vocabulary, in float64.

A design is how a node's K siblings are drawn. What is *accepted* is the probability that the node's token is
a drafted one. Each form takes rows p and q of one length that sum to 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from draftproof.theory.rows import likeliest
from draftproof.theory.shared.strata import lines, rest_and_top
from draftproof.theory.transport.single_step import inclusion_bound, of_prefixes
from draftproof.theory.values.optimal_classes import SHARED, edge
from draftproof.theory.verifiers.shared.priority import included

SIBLINGS = 1, 2, 3, 4, 6, 8, 12, 16
"""The numbers of siblings K that are tabulated."""

EDGES = np.array([float(edge(k, SHARED)) for k in range(SHARED)[::-1]])
"""The ratios of `in_places`, those of i.i.d. siblings' classes."""


@dataclass(frozen=True)
class Column:
    """A design with a verifier, or with the name of a number that no verifier exceeds.

    `kind` is "rule", "optimum" or "bound"; `attained` says whether a verifier that runs at this size has it.
    """

    design: str
    verifier: str
    kind: str
    accepted: Callable[[np.ndarray, np.ndarray, Sequence[int], np.random.Generator], list[float]]
    attained: bool = True


def specinfer(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, recursive rejection: of what reaches sibling j sum min(p_j, q) is accepted, and then
    p_{j+1} = norm((p_j - q)+).
    """
    refused = [1.0]
    for _sibling in range(max(counts)):
        over = np.maximum(p - q, 0)
        refused.append(refused[-1] * (left := over.sum()))
        p = over / left if left > 0 else p
    return [float(1 - refused[k]) for k in counts]


def optimal(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, the optimum in classes."""
    masses = in_places(p[q > 0], q[q > 0], 1)
    return [kept(masses, k) for k in counts]


def alpha(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, alpha* (`draftproof.theory.transport.single_step.alpha`), sorted by arrays."""
    order = np.argsort(np.divide(p, q, out=np.full_like(p, np.inf), where=q > 0))
    P, Q = np.cumsum(p[order]), np.minimum(np.cumsum(q[order]), 1)
    return [float(of_prefixes(P.tolist(), (Q**k).tolist())[0]) for k in counts]


def rrs(p: np.ndarray, q: np.ndarray, counts: Sequence[int], rng: np.random.Generator) -> list[float]:
    """Without replacement, recursive rejection: an unbiased estimate, exact for one sibling. The rejected
    tokens are drawn, each from norm((q - p)+), and the chances of being rejected multiplied.
    """
    refused, out, q = 1.0, [], q.copy()
    for _ in range(min(max(counts), int((q > 0).sum()))):
        over, excess = np.maximum(q - p, 0).cumsum(), np.maximum(p - q, 0)
        refused *= min(float(over[-1]), 1.0)
        out.append(1 - refused)
        if not (over[-1] > 0 and excess.sum() > 0):  # nothing is refused, except by rounding
            break
        q[min(int(np.searchsorted(over, rng.random() * over[-1], side="right")), len(q) - 1)] = 0
        if not (rest := q.sum()) > 0:
            break
        p, q = excess / excess.sum(), q / rest
    return [out[min(k, len(out)) - 1] for k in counts]


def top(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """The likeliest tokens of q: their mass under p is accepted, which is also the optimum."""
    mass = np.cumsum(p[likeliest(q, max(counts))])
    return [float(mass[min(k, len(mass)) - 1]) for k in counts]


def greedy(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """The K - 1 likeliest tokens and one sample of the others, at that draft's optimum (hu2025towards)."""
    return [float(inclusion_bound(p, included(rest_and_top(q, k)))) for k in counts]  # type: ignore[arg-type]


def stratified(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """One sibling of each stratum, the optimum in classes."""
    return [kept(in_places(p[order], pi, round(pi.sum()))) for order, pi in lines(q, counts)]


def bound(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """sum min(p, pi) of strata (`draftproof.theory.transport.single_step.inclusion_bound`)."""
    return [float(np.minimum(p[order], pi).sum()) for order, pi in lines(q, counts)]


def in_places(p: np.ndarray, pi: np.ndarray, groups: int) -> np.ndarray:
    """[groups, len(EDGES)]: how likely the sibling of each group takes each *place*, from sums by class of
    p's ratio to the group's row; `pi` are the groups' rows, end to end. A sibling between two edges takes
    either by a coin whose mean is its ratio (`draftproof.theory.values.optimal_classes`): no token is sorted.
    """
    end = np.cumsum(pi)
    last = np.searchsorted(end[:-1], np.arange(1, groups))
    over = np.clip((end[last] - np.arange(1, groups)) / pi[last], 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        kind = np.searchsorted(-EDGES, -np.nan_to_num(p / pi))
    cell = kind + len(EDGES) * np.searchsorted(last, np.arange(len(p)))
    P, Q = (np.bincount(cell, row, groups * len(EDGES)) for row in (p, pi))
    for row, mass in ((P, p), (Q, pi)):
        np.add.at(row, cell[last], -over * mass[last])
        np.add.at(row, cell[last] + len(EDGES), over * mass[last])
    P, Q = P.reshape(groups, -1), Q.reshape(groups, -1)
    upper = np.clip((P[:, 1:] - EDGES[1:] * Q[:, 1:]) / -np.diff(EDGES), 0, Q[:, 1:])
    Q[:, 1:] -= upper
    Q[:, :-1] += upper
    return Q


def kept(masses: np.ndarray, each: int = 1) -> float:
    """The optimum of places [groups, len(EDGES)] in groups of `each` siblings: the least of
    1 - prod (1 - R(X)) + t(off X).

    For a number y, a group gains most from its places of edge (1 - R(X)) >= y, X the places up to it, and at
    the optimum y is the product. So X is a beginning of the places, sorted by that number.
    """
    after = np.maximum(1 - np.cumsum(masses, axis=1), 0)
    order = np.argsort(-(EDGES * after).ravel(), kind="stable")
    caps = (EDGES * masses).ravel()[order]
    taken = np.zeros((len(order), len(masses)))
    taken[np.arange(len(order)), order // len(EDGES)] = masses.ravel()[order]
    none = np.maximum(1 - np.cumsum(taken, axis=0), 0).prod(axis=1) ** each
    return float(min(caps.sum(), (1 - none + caps.sum() - np.cumsum(caps)).min()))


COLUMNS = (
    Column("i.i.d.", "specinfer", "rule", specinfer),
    Column("i.i.d.", "optimal", "rule", optimal),
    Column("i.i.d.", "alpha*", "optimum", alpha, attained=False),
    Column("without replacement", "rrs", "rule", rrs),
    Column("top-k", "nss", "optimum", top),
    Column("greedy", "hu-greedy", "optimum", greedy),
    Column("stratified", "optimal", "rule", stratified),
    Column("stratified", "sum min(p, pi)", "bound", bound, attained=False),
)
