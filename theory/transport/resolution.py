"""Global Resolution: an optimal single-step rule for i.i.d. drafts, by convex minimisation.

The minimising set H of the subset formula splits the problem: draft sets inside H supply all of p(H); the
other draft sets are always accepted, on tokens outside H. In either part, a rule that gives each token
exactly its mass can be taken as a softmax over the drawn tokens,

    S(i, t) = Pr(t) exp(theta_i) / sum over j in t of exp(theta_j),

and theta minimises the convex function  sum_t Pr(t) log sum_{j in t} exp(theta_j) - sum_i c_i theta_i  of at
most V variables, whose gradient is the rule's violation. (The rule is thomas2026global, Section 4; the
entropy dual is ours.) The computation uses floats; a correction step then makes the result exact.
"""

import numpy as np
from flint import fmpq

from draftproof.theory.rows import Row, point
from draftproof.theory.shared.memo import remembered
from draftproof.theory.transport.siblings import set_law
from draftproof.theory.transport.single_step import Selection, alpha, selected_law

GOAL = 1e-13
"""The violation at which the minimisation stops."""

GRID = 2**40
"""With exact numbers, selection weights are rounded to multiples of 1/GRID."""


@remembered(4096)
def resolve(p: Row, q: Row, k: int, replacement: bool = True) -> Selection:
    """The rule for k i.i.d. draws from q, on rational or float rows; the result has p's number type.

    >>> p, q = (1 / 3, 2 / 3), (2 / 3, 1 / 3)
    >>> round(sum(map(min, p, resolve(p, q, 2).law)), 9)
    0.888888889
    """
    draws = set_law(q, k, True)
    if k == 1:  # nothing to select
        return Selection({t: point(max(t), p) for t in draws}, q)
    best, minimiser = alpha(p, q, k, replacement=True)
    H = set(minimiser)
    sets = {t: float(mass) for t, mass in draws.items()}
    spare = max(1.0 - float(best), 0.0)
    # An extra token V takes the surplus of the sets in H; an extra set supplies what p has left outside H.
    V = len(p)
    inside = {t | {V}: mass for t, mass in sets.items() if t <= H}
    outside = {t - H: 0.0 for t in sets if not t <= H}
    for t, mass in sets.items():
        if not t <= H:
            outside[t - H] += mass
    capacity = np.array([*map(float, p), spare])
    off = [x for x in range(V) if x not in H and p[x] > 0]
    if off and spare > 0:
        outside[frozenset(off)] = outside.get(frozenset(off), 0.0) + spare
    theta = np.full(V + 1, -np.inf)
    for part, tokens in ((inside, [*sorted(H), V]), (outside, off)):
        used = [x for x in tokens if capacity[x] > 0]
        if part and used:
            theta[used] = _softmax_scaling(part, used, capacity[used])
    weights = {t: _chosen(t, H, theta[:V], exactly=isinstance(p[0], fmpq)) for t in draws}
    return Selection(weights, selected_law(weights, draws))


def _chosen(t: frozenset[int], H: set[int], theta: np.ndarray, exactly: bool) -> Row:
    # Within H, mass that is not accepted is spread like accepted mass; token verification rejects it later.
    tokens = sorted(t if t <= H else t - H)
    logits = theta[tokens]
    if not np.isfinite(logits).any():
        logits = np.zeros(len(tokens))
    parts = np.zeros(len(theta))
    parts[tokens] = np.exp(logits - logits.max())
    parts = parts / parts.sum()
    if not exactly:
        return tuple(parts.tolist())
    counts = [int(w * GRID) for w in parts]
    counts[int(parts.argmax())] += GRID - sum(counts)
    return tuple([fmpq(n, GRID) for n in counts])


def _softmax_scaling(
    sets: dict[frozenset[int], float], tokens: list[int], capacity: np.ndarray
) -> np.ndarray:
    # theta [tokens] with sum_t mass(t) softmax_t(theta) = capacity.
    from scipy.optimize import minimize  # here, since other rules need no scipy

    at = {x: n for n, x in enumerate(tokens)}
    member = np.zeros((len(sets), len(tokens)))
    for row, t in zip(member, sets, strict=True):
        row[[at[x] for x in t if x in at]] = 1.0
    mass = np.fromiter(sets.values(), float)
    mass, member = mass[member.any(axis=1)], member[member.any(axis=1)]

    def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
        shifted = np.where(member > 0, theta, -np.inf)
        top = shifted.max(axis=1)
        parts = np.exp(shifted - top[:, None])
        whole = parts.sum(axis=1)
        given = mass @ (parts / whole[:, None])
        return float(mass @ (top + np.log(whole)) - capacity @ theta), given - capacity

    return minimize(value, np.log(capacity), jac=True, method="BFGS", options={"gtol": GOAL}).x
