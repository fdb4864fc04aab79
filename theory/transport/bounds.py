"""The value of the `program` of one valid iteration: solved in floats, bounded exactly from both sides.

Feasible duals near the solver's bound the value from above. A rule near the solver's that is valid
exactly bounds it from below, for one world.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np
from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.transport.program import Program, Seen, World, solve

GRID = 2**48
"""Float solutions are read as multiples of 1/GRID."""


@dataclass(frozen=True)
class Optimum:
    """The value of the program, in [lower, upper]: exact rationals.

    `upper` is the value of exactly feasible duals, `lower` that of an exactly valid plan near the
    float one (None where none was built, for several worlds); `value` is the solver's own.
    `variables` and `rows` give the program's size.
    """

    value: float
    lower: fmpq | None
    upper: fmpq
    variables: int
    rows: int

    @property
    def error(self) -> float:
        """How far the certified bounds are apart, rounded up; from the solver's value if one is missing."""
        if self.lower is None:
            return abs(float(self.upper) - self.value)
        return float(np.nextafter(float(self.upper - self.lower), np.inf))


def optimum(
    worlds: Sequence[World], context: Prefix = (), exchangeable: Sequence[Sequence[int]] = ()
) -> Optimum:
    """The largest weighted sum of E[tau] over the worlds of a rule that is valid in each of them.

    `exchangeable` lists classes of tokens whose exchange changes nothing (`stateless.exchangeable_tokens`).
    Raises BadInput when the program is too large, or HiGHS gives up on it.

    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> from draftproof.theory.table import Table
    >>> law = {(frozenset({(), (x,)}), None): q[x] for x in (0, 1)}
    >>> found = optimum([World(Table(2, {(): p}), law)])
    >>> round(found.value, 9), found.lower <= fmpq(2, 3) <= found.upper, found.error < 1e-9
    (0.666666667, True, True)
    """
    program = Program(worlds, context, exchangeable)
    value, f, mu = solve(program)
    upper = dual_bound(program, mu)
    lower = primal_bound(program, f) if len(worlds) == 1 else None
    return Optimum(value, lower, upper, program.size, len(f) + sum(map(len, mu)))


def dual_bound(program: Program, mu: Sequence[Mapping[Prefix, float]]) -> fmpq:
    """The value of exactly feasible duals near `mu[world][prefix]`: no valid rule exceeds it.

    mu is raised to an exact supermartingale, mu(u) >= sum_x p(x | u) mu(ux), and each draft pays
    lambda(D) = max over its outputs of accepted - sum over worlds of mu(end):

        E[tau]  <=  sum_D Pr(D) lambda(D)  +  sum over worlds of sum_x p(x) mu(x)

    (with `accepted` and E[tau] weighted by the worlds' weights).
    """
    exact: list[dict[Prefix, fmpq]] = []
    out = ZERO
    for world, prices in zip(program.worlds, mu, strict=True):
        row = {u: fmpq(round(price * GRID), GRID) for u, price in prices.items()}
        for v in reversed(program.reached(world)):
            ahead = sum((mass * row.get(u, ZERO) for u, mass in program.children(world, v)), ZERO)
            if v == program.context:
                out += ahead
            else:
                row[v] = max(row.get(v, ahead), ahead)
        exact.append(row)
    for seen, mass in program.seen.items():
        out += mass * max(
            program.score[seen] * output.accepted
            - sum((exact[n].get(output.end, ZERO) for n in program.where[seen]), ZERO)
            for output in program.outputs[seen]
        )
    return out


def primal_bound(program: Program, f: Mapping[Seen, np.ndarray]) -> fmpq:
    """The value of an exactly valid rule near the float plan f of a single world.

    Each draft's masses are read as rationals that sum to Pr(D). Then, from the leaves up, where the
    parts below a prefix u are not in the target's proportion, each is scaled down to it and the
    mass set free stops at u, one token earlier; at the root it goes to single tokens that can still
    take some, which every draft may emit. Values on the way are rounded down to the grid.
    """
    (world,) = program.worlds
    at = len(program.context)
    mass: dict[Prefix, fmpq] = {}
    values: dict[Prefix, fmpq] = {}
    for seen, parts in rational_masses(program, f).items():
        for output, part in zip(program.outputs[seen], parts, strict=True):
            mass[output.end] = mass.get(output.end, ZERO) + part
            values[output.end] = values.get(output.end, ZERO) + part * output.accepted
    for v in reversed(program.reached(world)):
        below = program.children(world, v)
        got = [mass.get(u, ZERO) for u, _ in below]
        kept = ONE if v == program.context else min(g / p for g, (_, p) in zip(got, below, strict=True))
        value, freed = ZERO, ZERO
        for g, (u, p) in zip(got, below, strict=True):
            if g > ZERO:
                stay = min(g, kept * p)
                value += values.get(u, ZERO) * stay / g
                freed += g - stay
        value = fmpq(int((value * GRID).floor()), GRID)
        if v == program.context:
            return value * world.weight
        mass[v] = mass.get(v, ZERO) + sum(got, ZERO)
        values[v] = values.get(v, ZERO) + value + freed * (len(v) - 1 - at)
    raise AssertionError("the root is always reached")


def rational_masses(program: Program, f: Mapping[Seen, np.ndarray]) -> dict[Seen, list[fmpq]]:
    """Each draft's float masses as rationals >= 0 that sum to its probability, by output."""
    exact: dict[Seen, list[fmpq]] = {}
    for seen, whole in program.seen.items():
        parts = [fmpq(max(floor(x * GRID), 0), GRID) for x in f[seen].tolist()]
        rest = whole - sum(parts, ZERO)
        best = max(range(len(parts)), key=parts.__getitem__)
        if parts[best] + rest < ZERO:
            parts, rest = [ZERO] * len(parts), whole
        parts[best] += rest
        exact[seen] = parts
    return exact
