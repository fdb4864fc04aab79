"""The value of the `program` of one valid iteration: solved in floats, bounded exactly from both sides.

Feasible duals near the solver's bound the value from above. A rule near the solver's that is valid
exactly bounds it from below; for one world it can be written out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.transport.program import Output, Program, Seen, World, solve

GRID = 2**48
"""Float solutions are read as multiples of 1/GRID."""

Rule: TypeAlias = dict[Seen, dict[Output, fmpq]]
"""What is seen -> output -> mass; the masses of one draft sum to its probability."""


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
    """The value of an exactly valid rule near the float plan f of a single world, rounded down on the way."""
    (world,) = program.worlds
    mass: dict[Prefix, fmpq] = {}
    value: dict[Prefix, fmpq] = {}  # what is accepted by the outputs at or below a prefix
    for seen, parts in rational_masses(program, f).items():
        for output, part in zip(program.outputs[seen], parts, strict=True):
            mass[output.end] = mass.get(output.end, ZERO) + part
            value[output.end] = value.get(output.end, ZERO) + part * output.accepted
    for v, below in _repairs(program, mass):
        kept = sum((value.get(u, ZERO) * stay for u, _, _, stay in below), ZERO)
        freed = sum((got * (1 - stay) for _, got, _, stay in below), ZERO)
        here = fmpq(int((kept * GRID).floor()), GRID) + freed * _accepted(program, v)
        value[v] = value.get(v, ZERO) + here
    return value[program.context] * world.weight


def valid_rule(program: Program, f: Mapping[Seen, np.ndarray]) -> Rule:
    """The rule that `primal_bound` values, mass by mass: exactly valid in the single world.

    Raises BadInput for several worlds and for programs of orbits, whose rules are averages.
    """
    if len(program.worlds) != 1 or program.exchangeable:
        raise BadInput("a rule is written out for one world, its tokens told apart")
    mass: dict[Prefix, fmpq] = {}
    under: dict[Prefix, Rule] = {}  # what comes out at or below a prefix
    for seen, masses in rational_masses(program, f).items():
        for output, part in zip(program.outputs[seen], masses, strict=True):
            if part > ZERO:
                mass[output.end] = mass.get(output.end, ZERO) + part
                _gain(under.setdefault(output.end, {}), seen, output, part)
    for v, below in _repairs(program, mass):
        here = under.setdefault(v, {})
        freed: dict[Seen, fmpq] = {}
        for u, _, _, stay in below:
            for seen, outputs in under.pop(u, {}).items():
                for output, part in outputs.items():
                    if stay > ZERO:
                        _gain(here, seen, output, part * stay)
                    if stay < ONE:
                        freed[seen] = freed.get(seen, ZERO) + part * (1 - stay)
        if v == program.context:
            _fill(here, freed, [(u, p - got * stay) for u, got, p, stay in below])
        else:
            for seen, part in freed.items():
                _gain(here, seen, Output(v, _accepted(program, v)), part)
    return under[program.context]


def expected_accepted(rule: Rule) -> fmpq:
    """E[tau] of a rule."""
    parts = (mass * output.accepted for masses in rule.values() for output, mass in masses.items())
    return sum(parts, ZERO)


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


def _repairs(
    program: Program, mass: dict[Prefix, fmpq]
) -> Iterator[tuple[Prefix, list[tuple[Prefix, fmpq, fmpq, fmpq]]]]:
    # What makes a rule of these masses valid, leaves first: of every prefix v its (u, mass at or below u,
    # p(u | v), part of that mass which stays). Where the masses below v are not in the target's proportion,
    # each is scaled down to it and the mass set free stops at v, one token earlier; at the root it goes to
    # single tokens that can still take some, which every draft may emit.
    (world,) = program.worlds
    for v in reversed(program.reached(world)):
        below = [(u, mass.get(u, ZERO), p) for u, p in program.children(world, v)]
        kept = ONE if v == program.context else min(got / p for _, got, p in below)
        yield v, [(u, got, p, min(got, kept * p) / got if got > ZERO else ONE) for u, got, p in below]
        mass[v] = mass.get(v, ZERO) + sum((got for _, got, _ in below), ZERO)


def _accepted(program: Program, v: Prefix) -> int:
    # How many drafted tokens are accepted by an output that ends at v; none by a single token or none.
    return max(len(v) - 1 - len(program.context), 0)


def _fill(rule: Rule, freed: dict[Seen, fmpq], free: list[tuple[Prefix, fmpq]]) -> None:
    # Single tokens, which any draft may emit, take up what was set free, in the order of their ids.
    for seen, mass in freed.items():
        while mass > ZERO:
            u, left = free[-1]
            part = min(mass, left)
            if part > ZERO:
                _gain(rule, seen, Output(u, 0), part)
            mass -= part
            free[-1] = u, left - part
            if left == part:
                free.pop()


def _gain(rule: Rule, seen: Seen, output: Output, mass: fmpq) -> None:
    masses = rule.setdefault(seen, {})
    masses[output] = masses.get(output, ZERO) + mass
