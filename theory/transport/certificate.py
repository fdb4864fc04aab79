"""The optimal coupling of two laws for an integer reward, from a float solver, certified in exact arithmetic.

With integer rewards the dual polyhedron u_i + v_j >= reward(i, j) has integral vertices, so a
float dual is rounded without loss. Edges where equality holds are *tight*; a plan that uses only
tight edges has the dual's value (complementary slackness), and both values are rationals.
"""

from dataclasses import dataclass
from math import lcm
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ZERO, shown
from draftproof.theory.transport.flow import Network

GRID = 48
"""The float solver gets masses as multiples of 2^-GRID of the total."""

Edge: TypeAlias = tuple[int, int]
"""(row i of the supply, column j of the demand)."""
Solved: TypeAlias = tuple[np.ndarray, np.ndarray]
"""A float solver's plan [m, n], and its duals v [n] of the demand."""


@dataclass(frozen=True, eq=False)
class Transport:
    """The problem of coupling two exact laws with the largest expected reward.

    Variables f(i, j) >= 0 with sum_j f(i, j) = supply[i] and sum_i f(i, j) = demand[j]; maximise
    sum f(i, j) reward[i, j]. `supply` [m] and `demand` [n] are rationals of equal total; `reward`
    is an integer array [m, n]. Raises BadInput when the masses do not fit together.
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
            raise BadInput(f"supply {shown(have)} and demand {shown(want)} differ")
        if have == ZERO:
            raise BadInput("there is no mass to transport")

    def float_masses(self) -> tuple[np.ndarray, np.ndarray]:
        """Supply and demand as multiples of 2^-GRID with exactly equal totals. A solver's sums and
        differences are then exact; with rounded masses it might call a feasible problem infeasible.
        """
        whole = sum(self.supply, ZERO)
        sides = [
            [round(float(mass / whole) * 2**GRID) for mass in side] for side in (self.supply, self.demand)
        ]
        for side in sides:
            side[side.index(max(side))] += 2**GRID - sum(side)
        a, b = (np.array(side) / 2.0**GRID * float(whole) for side in sides)
        return a, b


@dataclass(frozen=True, eq=False)
class Certificate:
    """An optimal plan and optimal duals whose values agree with `==`.

    `plan` maps (i, j) to its mass; `u` [m] and `v` [n] are integers with u_i + v_j >= reward.
    """

    problem: Transport
    plan: dict[Edge, fmpq]
    u: np.ndarray
    v: np.ndarray

    @property
    def primal(self) -> fmpq:
        """The plan's value."""
        return sum((mass * int(self.problem.reward[edge]) for edge, mass in self.plan.items()), ZERO)

    @property
    def value(self) -> fmpq:
        """The duals' value, which no plan exceeds."""
        sides = zip((*self.problem.supply, *self.problem.demand), (*self.u, *self.v), strict=True)
        return sum((mass * int(price) for mass, price in sides), ZERO)


def network_simplex(problem: Transport) -> Solved:
    """POT's network simplex (bonneel2011displacement, flamary2021pot); its duals are left uncentred."""
    from ot import emd

    a, b = problem.float_masses()
    most = int(problem.reward.max())  # POT's first basis assumes non-negative costs
    plan, log = emd(a, b, (most - problem.reward).astype(float), log=True, center_dual=False)
    return plan, -log["v"]


def certified(problem: Transport, solved: Solved | None = None) -> Certificate:
    """The exact optimum, from a float solution (POT's network simplex when none is given).

    The duals are rounded, and the plan is a maximum flow along the float plan's tight edges. If rounding
    makes this fail, flows along all tight edges and exact dual steps complete the plan (kuhn1955hungarian,
    for masses), so the result is always certified.

    >>> third = fmpq(1, 3)
    >>> found = certified(Transport((third, 2 * third), (2 * third, third), np.eye(2, dtype=int)))
    >>> found.value, found.primal
    (2/3, 2/3)
    """
    floats, duals = solved or network_simplex(problem)
    v = np.where(np.isfinite(duals), np.rint(duals), 0).astype(np.int64)
    u = (problem.reward - v).max(axis=1)
    v = (problem.reward - u[:, None]).max(axis=0)
    scale = lcm(*(int(mass.q) for mass in (*problem.supply, *problem.demand)))
    supply, demand = ([int(mass * scale) for mass in side] for side in (problem.supply, problem.demand))
    plan = tight_plan(supply, demand, problem.reward, floats > 0, u, v)
    return Certificate(problem, {edge: fmpq(mass, scale) for edge, mass in plan.items()}, u, v)


def tight_plan(
    supply: list[int], demand: list[int], reward: np.ndarray, first: np.ndarray, u: np.ndarray, v: np.ndarray
) -> dict[Edge, int]:
    """A plan on tight edges: a maximum flow along the tight edges in `first`; if mass is left, along all
    tight edges; if mass is still left, u and v are changed in place so that more edges become tight.

    This terminates because every change of the duals lowers an integral bound.
    """
    m, n = reward.shape
    have, want = list(supply), list(demand)
    plan: dict[Edge, int] = {}
    while any(have):
        net = Network()  # nodes: rows 0 .. m - 1, columns m .. m + n - 1
        for i, mass in enumerate(have):
            net.widen("supply", i, mass, 1)
        for j, mass in enumerate(want):
            net.widen(m + j, "demand", mass)
        edges: list[Edge] = [(i, j) for i, j in np.argwhere((u[:, None] + v == reward) & first).tolist()]
        for i, j in edges:
            net.widen(i, m + j)
            if (i, j) in plan:
                net.widen(m + j, i, plan[i, j])
        net.saturate("supply", "demand")
        plan |= {(i, j): net.flow(i, m + j) for i, j in edges}
        have = [mass - net.flow("supply", i) for i, mass in enumerate(have)]
        want = [mass - net.flow(m + j, "demand") for j, mass in enumerate(want)]
        if any(have) and first.all():
            reached = net.reached("supply")
            rows = np.array([i in reached for i in range(m)])
            columns = np.array([m + j in reached for j in range(n)])
            step = (u[rows, None] + v[~columns] - reward[np.ix_(rows, ~columns)]).min()
            u[rows] -= step
            v[columns] += step
        first = np.ones_like(first)
    return {edge: mass for edge, mass in plan.items() if mass}
