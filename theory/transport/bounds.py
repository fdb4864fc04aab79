"""The stateless optimum, E[tau] of the best rule that is lossless in one iteration: a linear program, solved
in floats and bounded exactly from both sides.

The optimum bounds E[tau] of every verifier that keeps no state; on chains it is block verification's. The
rule knows all rows of the target, and the exact law of the drafted prefixes. An output of a draft is a
drafted prefix and one extra token, or a whole drafted path, whose extra token the target draws. The variables
are

* f(D, o) >= 0, the probability that D is drafted and o is the output;
* m(u) >= 0, the mass of the outputs longer than the prefix u; m(root) = 1.

The rows are sum_o f(D, o) = Pr(D); and, for each u = vx, the outputs that end at u and those that extend u
have together the target's mass:

    sum of f(., o) over the outputs o that end at u  +  m(u)  =  m(v) p(x | v).

These rows mean that for every word w of depth + 1 tokens sum_o f(., o) p(w | o) = p(w), but they are sparse:
every f is in one row of either kind. The objective is E[tau]. Outputs dominated by a longer one are left out:
an extra token that was also drafted could have been accepted, and an extra token at a path's end costs
nothing.

The upper bound of the value comes from exactly feasible prices near the solver's duals, the lower bound from
an exactly valid rule near the solver's; both are kept for a certificate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport.block import Drafted

Seen: TypeAlias = frozenset[Prefix]
"""The drafted prefixes of one draft."""

VARIABLES = 10**6
"""Largest number of variables of a program."""

TIGHT = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)

GRID = 2**48
"""Duals and repairs of masses are rounded to multiples of 1/GRID."""

SIMPLE = 10**7
"""Masses are rounded to rationals with at most this denominator, so that simple ones are found exactly."""


@dataclass(frozen=True)
class Output:
    """An output: the prefix at which it ends, and the number of accepted tokens."""

    end: Prefix
    accepted: int


Rule: TypeAlias = dict[Seen, dict[Output, fmpq]]
"""What is drafted -> output -> mass; the masses of one draft sum to its probability."""

Prices: TypeAlias = dict[Seen | Prefix, fmpq]
"""Of what is drafted, and of the prefixes at which outputs end or that outputs extend."""


class Program:
    """The linear program of a target and the law of drafts; BadInput without drafts, or for more than
    VARIABLES variables. `inner` are the prefixes that some draft extends.
    """

    def __init__(self, target: Rows, law: Mapping[Seen, fmpq]):
        if not law:
            raise BadInput("there is no draft to verify")
        self.target, self.law = target, law
        self.inner = {(), *(prefix[:-1] for seen in law for prefix in seen if prefix)}
        self.outputs = {seen: list(dict.fromkeys(self._outputs(seen))) for seen in law}
        self.size = sum(map(len, self.outputs.values())) + len(self.inner)
        if self.size > VARIABLES:
            raise BadInput(f"{self.size} variables; at most {VARIABLES} are solved for")

    def _outputs(self, seen: Seen) -> Iterator[Output]:
        stack: list[Prefix] = [()]
        while stack:
            v = stack.pop()
            if v not in self.inner:
                yield Output(v, len(v))
                continue
            for x, mass in enumerate(self.target[v]):
                if mass > ZERO:
                    u = (*v, x)
                    if u in seen:
                        stack.append(u)
                    else:
                        yield Output(u, len(v))

    def children(self, v: Prefix) -> list[tuple[Prefix, fmpq]]:
        """(u, p(u | v)) of every prefix u = vx that the target can emit after v."""
        return [((*v, x), mass) for x, mass in enumerate(self.target[v]) if mass > ZERO]

    def reached(self) -> list[Prefix]:
        """The inner prefixes of positive probability, shorter ones first."""
        out: list[Prefix] = [()]
        for v in out:
            out.extend(u for u, _ in self.children(v) if u in self.inner)
        return out


def solve(program: Program) -> tuple[float, dict[Seen, np.ndarray], dict[Prefix, float]]:
    """(value, f, mu) of a program, from HiGHS in floats.

    f[seen] follows program.outputs[seen]; mu[prefix] are the duals of the target's rows. Raises BadInput when
    HiGHS gives up.
    """
    sides = [float(mass) for mass in program.law.values()]
    rows: dict[Prefix, int] = {}  # of the outputs that end at a prefix
    cost: list[float] = []
    entries: list[tuple[int, int, float]] = []  # (row, column, value)
    for v in program.reached():
        for u, p in program.children(v):
            rows[u] = len(sides)
            sides.append(0.0 if v else float(p))
            if v:
                entries.append((rows[u], len(cost), -float(p)))
        if v:  # the variable m(v)
            entries.append((rows[v], len(cost), 1.0))
            cost.append(0.0)
    at: dict[Seen, slice] = {}
    for row, (seen, outputs) in enumerate(program.outputs.items()):
        at[seen] = slice(len(cost), len(cost) + len(outputs))
        for output in outputs:
            entries += [(row, len(cost), 1.0), (rows[output.end], len(cost), 1.0)]
            cost.append(-float(output.accepted))
    x, prices = minimised(cost, entries, sides)
    mu = {u: -float(prices[n]) for u, n in rows.items()}
    return -float(np.dot(cost, x)), {seen: x[columns] for seen, columns in at.items()}, mu


def minimised(
    cost: list[float], entries: list[tuple[int, int, float]], sides: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """(solution, prices of the rows) of a linear program whose rows are equations and whose variables are at
    least 0; entries are (row, column, value). Raises BadInput when HiGHS gives up.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    matrix = csr_array((values, (rows, columns)), shape=(len(sides), len(cost)))
    for options in (TIGHT, {**TIGHT, "presolve": False}, {}):  # presolve may mistake rounding
        found = linprog(cost, A_eq=matrix, b_eq=sides, bounds=(0, None), method="highs", options=options)
        if found.x is not None:
            return found.x, found.eqlin.marginals
    raise BadInput(f"HiGHS found no optimum: {found.message}")


@dataclass(frozen=True)
class Optimum:
    """The value of the program lies in [lower, upper], which are exact rationals.

    `upper` is the value of `prices`, `lower` that of `rule`, none where a closed form gives both; `value` is
    the solver's own.
    """

    value: float
    lower: fmpq
    upper: fmpq
    rule: Rule = field(default_factory=dict, repr=False)
    prices: Prices = field(default_factory=dict, repr=False)

    @property
    def error(self) -> float:
        """upper - lower, rounded up."""
        return float(np.nextafter(float(self.upper - self.lower), np.inf))


def stateless(prefixes: Drafted, target: Rows) -> Optimum:
    """The stateless optimum for the law of drafts, with its certified interval. Raises BadInput when the
    program is too large, or HiGHS gives up on it.

    >>> from draftproof.theory.table import Table
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> found = stateless(law, Table(2, {(): p}))
    >>> round(found.value, 9), found.lower <= fmpq(2, 3) <= found.upper, found.error < 1e-9
    (0.666666667, True, True)
    """
    program = Program(target, prefixes)
    value, f, mu = solve(program)
    rule, prices = valid_rule(program, f), feasible_prices(program, mu)
    lower = sum((mass * o.accepted for masses in rule.values() for o, mass in masses.items()), ZERO)
    upper = sum((mass * prices[seen] for seen, mass in prefixes.items()), prices[()])
    return Optimum(value, lower, upper, rule, prices)


def feasible_prices(program: Program, mu: Mapping[Prefix, float]) -> Prices:
    """Exactly feasible prices near `mu[prefix]`: no valid rule exceeds their value.

    The prices a of prefixes are made an exact martingale, a(u) = sum_x p(x | u) a(ux). Each draft has the
    price lambda(D) = max over its outputs of (accepted - a(end)), and then

        E[tau]  <=  sum_D Pr(D) lambda(D)  +  a(root).
    """
    exact: Prices = {}
    for v in program.reached():
        below = [(u, p, fmpq(round(mu[u] * GRID), GRID)) for u, p in program.children(v)]
        ahead = sum((p * price for _, p, price in below), ZERO)
        rest = exact.setdefault(v, ahead) - ahead
        exact.update((u, price + rest) for u, _, price in below)
    for seen, outputs in program.outputs.items():
        exact[seen] = max(output.accepted - exact[output.end] for output in outputs)
    return exact


def valid_rule(program: Program, f: Mapping[Seen, np.ndarray]) -> Rule:
    """An exactly valid rule near the float plan f.

    Each draft's masses are rounded to rationals that sum to Pr(D). Then, from the leaves up: where the masses
    below a prefix v are not proportional to the target's row, those that are too large are scaled down, by a
    multiple of 1/GRID, and their drafts emit, after v, the tokens that lack mass.
    """
    under: dict[Prefix, list[tuple[Seen, Output, fmpq]]] = {}  # what comes out at or below a prefix
    for seen, masses in rational_masses(program, f).items():
        for output, mass in zip(program.outputs[seen], masses, strict=True):
            under.setdefault(output.end, []).append((seen, output, mass))
    for v in reversed(program.reached()):
        below = [(u, p, under.pop(u, [])) for u, p in program.children(v)]
        got = [sum((mass for *_, mass in parts), ZERO) for *_, parts in below]
        whole = sum(got, ZERO)
        here, freed, lacking = under.setdefault(v, []), [], []
        for (u, p, parts), mass in zip(below, got, strict=True):
            stay = ONE if mass <= whole * p else fmpq(int((whole * p / mass * GRID).floor()), GRID)
            here += [(seen, output, part * stay) for seen, output, part in parts]
            freed += [(seen, part * (1 - stay)) for seen, _, part in parts if stay < ONE]
            lacking.append((Output(u, len(v)), whole * p - mass * stay))
        for seen, mass in freed:
            while mass > ZERO:
                output, left = lacking.pop()
                here.append((seen, output, min(mass, left)))
                lacking += [(output, left - mass)] * (left > mass)
                mass -= min(mass, left)
    rule: Rule = {seen: {} for seen in program.law}
    for seen, output, mass in under[()]:
        if mass > ZERO:
            rule[seen][output] = rule[seen].get(output, ZERO) + mass
    return rule


def rational_masses(program: Program, f: Mapping[Seen, np.ndarray]) -> dict[Seen, list[fmpq]]:
    """Each draft's float masses as rationals >= 0 that sum to its probability, by output."""
    exact: dict[Seen, list[fmpq]] = {}
    for seen, whole in program.law.items():
        near = (Fraction(max(x, 0.0)).limit_denominator(SIMPLE) for x in f[seen].tolist())
        parts = [fmpq(*each.as_integer_ratio()) for each in near]
        rest = whole - sum(parts, ZERO)
        best = max(range(len(parts)), key=parts.__getitem__)
        if parts[best] + rest < ZERO:
            parts, rest = [ZERO] * len(parts), whole
        parts[best] += rest
        exact[seen] = parts
    return exact
