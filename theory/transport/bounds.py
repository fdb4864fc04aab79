"""The linear program of one valid iteration: solved in floats, bounded exactly from both sides.

A *scenario* is a target with the law of the verifier's observation, `Seen`: the drafted prefixes, and
anything else that distinguishes drafts. The rule is made for the given scenarios: it knows all their rows,
but learns only from `Seen` which scenario it is in. An output of a draft is a drafted prefix and one extra
token, or a whole drafted path, whose extra token the target draws. The variables are

* f(D, o) >= 0, the probability that D is seen and o is the output; scenarios in which D can be seen share it;
* m(u) >= 0 in each scenario, the mass of the outputs longer than the prefix u; m(root) = 1.

The rows are sum_o f(D, o) = Pr(D); and, for each u = vx in each scenario, the outputs that end at u and those
that extend u have together the target's mass:

    sum of f(., o) over the outputs o that end at u  +  m(u)  =  m(v) p(x | v).

These rows mean that for every word w of depth + 1 tokens sum_o f(., o) p(w | o) = p(w), but they are sparse:
in each scenario every f is in one row of either kind. The objective is the weighted sum of the scenarios'
E[tau]. Outputs dominated by a longer one are left out: an extra token that was also drafted could have been
accepted, and an extra token at a path's end costs nothing.

If exchanging some tokens leaves the instance unchanged, the average of a solution over these exchanges is as
good as the solution. Prefixes and drafts then stand for their orbits, and `exchangeable` lists the classes of
tokens.

The upper bound of the value comes from exactly feasible duals near the solver's. The lower bound, for a
single scenario, comes from an exactly valid rule near the solver's.
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
from draftproof.theory.table import Rows
from draftproof.theory.transport.linear import Linear

Seen: TypeAlias = tuple[frozenset[Prefix], object]
"""The observation: the drafted prefixes, and anything else that is seen (or None)."""

VARIABLES = 10**6
"""Largest number of variables of a program."""

GRID = 2**48
"""Float solutions are rounded to multiples of 1/GRID."""


@dataclass(frozen=True)
class Scenario:
    """A target, the exact law of the observation in this scenario, and the scenario's weight."""

    target: Rows
    law: Mapping[Seen, fmpq]
    weight: fmpq = ONE


@dataclass(frozen=True)
class Output:
    """An output: the prefix at which it ends, and the number of accepted tokens."""

    end: Prefix
    accepted: int


class Program:
    """The linear program of the scenarios; BadInput without drafts, or for more than VARIABLES variables."""

    def __init__(self, scenarios: Sequence[Scenario], exchangeable: Sequence[Sequence[int]] = ()):
        if not scenarios or not scenarios[0].law:
            raise BadInput("there is no draft to verify")
        self.scenarios = scenarios
        self.exchangeable = exchangeable
        self.seen: dict[Seen, fmpq] = {}
        self.inner: set[Prefix] = {()}
        for scenario in scenarios:
            self.seen.update(scenario.law)
        for prefixes, _ in self.seen:
            self.inner.update(self.orbit(prefix[:-1]) for prefix in prefixes if prefix)
        self.where: dict[Seen, list[int]] = {seen: [] for seen in self.seen}
        for n, scenario in enumerate(scenarios):
            for seen in scenario.law:
                self.where[seen].append(n)
        self.score = {seen: sum((scenarios[n].weight for n in at), ZERO) for seen, at in self.where.items()}
        self.outputs = {seen: list(dict.fromkeys(self._outputs(seen))) for seen in self.seen}
        self.size = sum(map(len, self.outputs.values())) + len(scenarios) * len(self.inner)
        if self.size > VARIABLES:
            raise BadInput(f"{self.size} variables; at most {VARIABLES} are solved for")

    def orbit(self, prefix: Prefix) -> Prefix:
        """The representative of the prefix's orbit under exchanges of tokens."""
        return canonical(prefix, self.exchangeable) if self.exchangeable else prefix

    def _outputs(self, seen: Seen) -> Iterator[Output]:
        prefixes, target = seen[0], self.scenarios[self.where[seen][0]].target
        stack: list[Prefix] = [()]
        while stack:
            v = stack.pop()
            if (end := self.orbit(v)) not in self.inner:
                yield Output(end, len(v))
                continue
            for x, mass in enumerate(target[v]):
                if mass > ZERO:
                    u = (*v, x)
                    if u in prefixes:
                        stack.append(u)
                    else:
                        yield Output(self.orbit(u), len(v))

    def children(self, scenario: Scenario, v: Prefix) -> list[tuple[Prefix, fmpq]]:
        """(u, p(u | v)) of every prefix, or orbit, u = vx that the target can emit after v."""
        below: dict[Prefix, fmpq] = {}
        for x, mass in enumerate(scenario.target[v]):
            if mass > ZERO:
                u = self.orbit((*v, x))
                below[u] = below.get(u, ZERO) + mass
        return list(below.items())

    def reached(self, scenario: Scenario) -> list[Prefix]:
        """The inner prefixes that have positive probability in this scenario, shorter ones first."""
        out: list[Prefix] = [()]
        for v in out:
            out.extend(u for u, _ in self.children(scenario, v) if u in self.inner)
        return out


def canonical(prefix: Prefix, classes: Sequence[Sequence[int]]) -> Prefix:
    """The prefix with the tokens of each class renamed in order of appearance."""
    names: dict[int, int] = {}
    fresh: dict[int, Iterator[int]] = {}
    for group in classes:
        fresh.update(dict.fromkeys(group, iter(group)))
    for x in prefix:
        if x in fresh and x not in names:
            names[x] = next(fresh[x])
    return tuple(names.get(x, x) for x in prefix)


def solve(program: Program) -> tuple[float, dict[Seen, np.ndarray], list[dict[Prefix, float]]]:
    """(value, f, mu) of a program, from HiGHS in floats.

    f[seen] follows program.outputs[seen]; mu[scenario][prefix] are the duals of the scenarios' rows. Raises
    BadInput when HiGHS gives up.
    """
    lp = Linear(VARIABLES)
    drafted = [lp.row(float(mass)) for mass in program.seen.values()]
    row_at: list[dict[Prefix, int]] = []
    for scenario in program.scenarios:
        rows: dict[Prefix, int] = {}
        for v in program.reached(scenario):
            below = program.children(scenario, v)
            rows |= {u: lp.row(0.0 if v else float(p)) for u, p in below}
            if v:
                lp.column([(rows[v], 1.0), *((rows[u], -float(p)) for u, p in below)])
        row_at.append(rows)
    at: dict[Seen, list[int]] = {}
    for row, (seen, outputs) in zip(drafted, program.outputs.items(), strict=True):
        score, where = float(program.score[seen]), program.where[seen]
        ends = ([(row, 1.0), *((row_at[k][output.end], 1.0) for k in where)] for output in outputs)
        costs = (-score * output.accepted for output in outputs)
        at[seen] = [lp.column(entries, cost) for entries, cost in zip(ends, costs, strict=True)]
    x, prices = lp.solve()
    mu = [{u: -float(prices[n]) for u, n in rows.items()} for rows in row_at]
    return -float(np.dot(lp.cost, x)), {seen: x[columns] for seen, columns in at.items()}, mu


@dataclass(frozen=True)
class Optimum:
    """The value of the program lies in [lower, upper], which are exact rationals.

    `upper` is the value of exactly feasible duals, `lower` that of an exactly valid plan near the float one
    (None for several scenarios); `value` is the solver's own. `variables` and `rows` give the program's size.
    """

    value: float
    lower: fmpq | None
    upper: fmpq
    variables: int
    rows: int

    @property
    def error(self) -> float:
        """upper - lower, rounded up; if `lower` is missing, upper - value."""
        if self.lower is None:
            return abs(float(self.upper) - self.value)
        return float(np.nextafter(float(self.upper - self.lower), np.inf))


def optimum(scenarios: Sequence[Scenario], exchangeable: Sequence[Sequence[int]] = ()) -> Optimum:
    """The largest weighted sum of the scenarios' E[tau], over rules that are valid in each scenario.

    `exchangeable` lists classes of exchangeable tokens (`stateless.exchangeable_tokens`).
    Raises BadInput when the program is too large, or HiGHS gives up on it.

    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> from draftproof.theory.table import Table
    >>> law = {(frozenset({(), (x,)}), None): q[x] for x in (0, 1)}
    >>> found = optimum([Scenario(Table(2, {(): p}), law)])
    >>> round(found.value, 9), found.lower <= fmpq(2, 3) <= found.upper, found.error < 1e-9
    (0.666666667, True, True)
    """
    program = Program(scenarios, exchangeable)
    value, f, mu = solve(program)
    upper = dual_bound(program, mu)
    lower = primal_bound(program, f) if len(scenarios) == 1 else None
    return Optimum(value, lower, upper, program.size, len(f) + sum(map(len, mu)))


def dual_bound(program: Program, mu: Sequence[Mapping[Prefix, float]]) -> fmpq:
    """The value of exactly feasible duals near `mu[scenario][prefix]`: no valid rule exceeds it.

    mu is raised to an exact supermartingale, mu(u) >= sum_x p(x | u) mu(ux). Each draft has the dual
    lambda(D) = max over its outputs of (accepted - sum over scenarios of mu(end)), and then

        E[tau]  <=  sum_D Pr(D) lambda(D)  +  sum over scenarios of sum_x p(x) mu(x)

    (with `accepted` and E[tau] weighted by the scenarios' weights).
    """
    exact: list[dict[Prefix, fmpq]] = []
    out = ZERO
    for scenario, prices in zip(program.scenarios, mu, strict=True):
        row = {u: fmpq(round(price * GRID), GRID) for u, price in prices.items()}
        for v in reversed(program.reached(scenario)):
            ahead = sum((mass * row.get(u, ZERO) for u, mass in program.children(scenario, v)), ZERO)
            if v:
                row[v] = max(row.get(v, ahead), ahead)
            else:
                out += ahead
        exact.append(row)
    for seen, mass in program.seen.items():
        out += mass * max(
            program.score[seen] * output.accepted
            - sum((exact[n].get(output.end, ZERO) for n in program.where[seen]), ZERO)
            for output in program.outputs[seen]
        )
    return out


def primal_bound(program: Program, f: Mapping[Seen, np.ndarray]) -> fmpq:
    """The value of an exactly valid rule near the float plan f of a single scenario.

    Each draft's masses are rounded to rationals that sum to Pr(D). Then, from the leaves up: if the masses
    below a prefix u are not proportional to the target's row, each is scaled down until they are, and the
    mass removed stops at u, one token earlier. At the root, the mass removed goes to single tokens whose
    target mass is not yet used up; every draft may emit these. Intermediate values are rounded down to the
    grid.
    """
    (scenario,) = program.scenarios
    mass: dict[Prefix, fmpq] = {}
    values: dict[Prefix, fmpq] = {}
    for seen, parts in rational_masses(program, f).items():
        for output, part in zip(program.outputs[seen], parts, strict=True):
            mass[output.end] = mass.get(output.end, ZERO) + part
            values[output.end] = values.get(output.end, ZERO) + part * output.accepted
    for v in reversed(program.reached(scenario)):
        below = program.children(scenario, v)
        got = [mass.get(u, ZERO) for u, _ in below]
        kept = ONE if not v else min(g / p for g, (_, p) in zip(got, below, strict=True))
        value, freed = ZERO, ZERO
        for g, (u, p) in zip(got, below, strict=True):
            if g > ZERO:
                stay = min(g, kept * p)
                value += values.get(u, ZERO) * stay / g
                freed += g - stay
        value = fmpq(int((value * GRID).floor()), GRID)
        if not v:
            return value * scenario.weight
        mass[v] = mass.get(v, ZERO) + sum(got, ZERO)
        values[v] = values.get(v, ZERO) + value + freed * (len(v) - 1)
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
