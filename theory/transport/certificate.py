"""From a float solver's answer to an exact one: integral duals, and a plan rebuilt on tight edges.

With integer rewards the dual polyhedron u_i + v_j >= reward(i, j) has integral vertices, so a
float dual is rounded without loss. Edges where equality holds are *tight*; a plan that uses only
tight edges has the dual's value (complementary slackness), and both values are rationals.
"""

from dataclasses import dataclass
from math import lcm

import numpy as np
from flint import fmpq

from draftproof.theory.numbers import ZERO
from draftproof.theory.transport.problem import Solved, Transport, network_simplex
from draftproof.theory.transport.rebuild import finished, forest, rebuilt


@dataclass(frozen=True, eq=False)
class Certificate:
    """An optimal plan and optimal duals whose values agree with `==`.

    `plan` maps (i, j) to its mass; `u` [m] and `v` [n] are integers with u_i + v_j >= reward.
    """

    problem: Transport
    plan: dict[tuple[int, int], fmpq]
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

    def holds(self) -> bool:
        """Whether everything checks in exact arithmetic: both feasible, and primal = dual."""
        supply, demand = [ZERO] * len(self.problem.supply), [ZERO] * len(self.problem.demand)
        for (i, j), mass in self.plan.items():
            supply[i] += mass
            demand[j] += mass
        return (
            bool((self.u[:, None] + self.v >= self.problem.reward).all())
            and all(mass > ZERO for mass in self.plan.values())
            and (tuple(supply), tuple(demand)) == (self.problem.supply, self.problem.demand)
            and self.primal == self.value
        )


def certified(problem: Transport, solved: Solved | None = None) -> Certificate:
    """The exact optimum, from a float solution (POT's network simplex when none is given).

    The plan is rebuilt by leaf elimination on the float plan's own edges, joined by tight ones
    into a forest. Where rounding spoiled either, exact augmenting and dual steps finish the work
    (kuhn1955hungarian, for masses), so the answer is always certified.

    >>> third = fmpq(1, 3)
    >>> found = certified(Transport((third, 2 * third), (2 * third, third), np.eye(2, dtype=int)))
    >>> found.value, found.holds()
    (2/3, True)
    """
    solved = solved or network_simplex(problem)
    u, v = integral_duals(problem.reward, solved.v)
    scale = lcm(*(int(mass.q) for mass in (*problem.supply, *problem.demand)))
    supply, demand = ([int(mass * scale) for mass in side] for side in (problem.supply, problem.demand))
    tight = u[:, None] + v == problem.reward
    flow = rebuilt(supply, demand, forest(tight, np.argwhere((solved.plan > 0) & tight)))
    plan, u, v = finished(supply, demand, problem.reward, flow, u, v)
    return Certificate(problem, {edge: fmpq(mass, scale) for edge, mass in plan.items()}, u, v)


def integral_duals(reward: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Feasible integral duals near the float ones: v rounded, then u and v made as small as they can be."""
    v = np.where(np.isfinite(v), np.rint(v), 0).astype(np.int64)
    u = (reward - v).max(axis=1)
    return u, (reward - u[:, None]).max(axis=0)
