"""A transport problem with integer rewards, and the two float solvers that answer it."""

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ZERO

GRID = 48
"""Masses reach the float solvers as multiples of 2^-GRID of the total."""


@dataclass(frozen=True, eq=False)
class Transport:
    """Couple two exact laws so that the expected reward is largest.

    Variables f(i, j) >= 0 with sum_j f(i, j) = supply[i] and sum_i f(i, j) = demand[j]; maximise
    sum f(i, j) reward[i, j]. `supply` [m] and `demand` [n] are rationals of equal total; `reward`
    is an integer array [m, n]. Raises BadInput when the masses do not fit together.

    >>> half = fmpq(1, 2)
    >>> Transport((half, half), (fmpq(1, 3), fmpq(2, 3)), np.eye(2, dtype=int)).reward.shape
    (2, 2)
    """

    supply: tuple[fmpq, ...]
    demand: tuple[fmpq, ...]
    reward: np.ndarray

    def __post_init__(self) -> None:
        shape = len(self.supply), len(self.demand)
        if not all(shape) or self.reward.shape != shape:
            raise BadInput(f"transport of {shape[0]} to {shape[1]} with rewards {self.reward.shape}")
        if not np.issubdtype(self.reward.dtype, np.integer):
            raise BadInput(f"rewards are {self.reward.dtype}, not integers")
        if any(mass < ZERO for mass in (*self.supply, *self.demand)):
            raise BadInput("a mass to transport is negative")
        if (have := sum(self.supply, ZERO)) != (want := sum(self.demand, ZERO)):
            raise BadInput(f"supply {_shown(have)} and demand {_shown(want)} differ")
        if have == ZERO:
            raise BadInput("there is no mass to transport")


@dataclass(frozen=True, eq=False)
class Solved:
    """A float solver's answer: value, plan [m, n], and duals u [m], v [n] with u + v >= reward."""

    value: float
    plan: np.ndarray
    u: np.ndarray
    v: np.ndarray


def network_simplex(problem: Transport) -> Solved:
    """POT's network simplex (bonneel2011displacement, flamary2021pot); its duals are left uncentred.

    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> round(network_simplex(Transport(q, p, np.eye(2, dtype=int))).value, 9)
    0.666666667
    """
    from ot import emd

    a, b = _masses(problem)
    most = int(problem.reward.max())  # POT's first basis takes costs to be non-negative
    plan, log = emd(a, b, (most - problem.reward).astype(float), log=True, center_dual=False)
    return Solved(float(most * a.sum() - log["cost"]), plan, most - log["u"], -log["v"])


def highs(problem: Transport) -> Solved:
    """HiGHS' simplex on the sparse linear program (huangfu2018parallelizing)."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    a, b = _masses(problem)
    m, n = problem.reward.shape
    rows = vstack([kron(eye_array(m), np.ones((1, n))), kron(np.ones((1, m)), eye_array(n))], format="csr")
    found = linprog(
        -problem.reward.ravel().astype(float), A_eq=rows, b_eq=np.concatenate([a, b]), method="highs-ds"
    )
    if found.x is None:
        raise BadInput(f"HiGHS found no plan: {found.message}")
    duals = -found.eqlin.marginals
    return Solved(-float(found.fun), found.x.reshape(m, n), duals[:m], duals[m:])


def _masses(problem: Transport) -> tuple[np.ndarray, np.ndarray]:
    # Multiples of 2^-GRID of exactly the same total, so that the solvers' sums and differences are
    # free of rounding: with rounded masses they at times call a feasible problem infeasible.
    whole = sum(problem.supply, ZERO)
    a, b = (
        [round(float(mass / whole) * 2**GRID) for mass in side] for side in (problem.supply, problem.demand)
    )
    for side in (a, b):
        side[side.index(max(side))] += 2**GRID - sum(side)
    return np.array(a) / 2.0**GRID * float(whole), np.array(b) / 2.0**GRID * float(whole)


def _shown(number: fmpq) -> str:
    spelled = str(number)
    return spelled if len(spelled) <= 40 else f"about {float(number):.6g}"
