"""The linear program of one valid iteration.

A *world* is a target with the law of what the verifier may see there: `Seen`, the drafted prefixes
and whatever else tells drafts apart. The rule is made for the given worlds: it knows their rows, after
drafted prefixes and after others, and only `Seen` tells it which world it is in. An output of a draft is
a drafted prefix and one extra token, or a whole drafted path whose extra token the target draws. Variables

* f(D, o) >= 0, the mass with which what is seen, D, comes out as o, shared by the worlds it is seen in;
* m(u) >= 0 in each world, the mass of the outputs that go on beyond the prefix u; m(root) = 1;

and rows: sum_o f(D, o) = Pr(D); and for each u = vx in each world, what ends at u and what goes on beyond u
have the target's mass:

    sum of f(., o) over the outputs o that end at u  +  m(u)  =  m(v) p(x | v).

These say that for every word w of depth + 1 tokens sum_o f(., o) p(w | o) = p(w), with rows that
stay sparse: in each world every f is in one row of either kind. Maximise the worlds' E[tau] by
their weights. Outputs that a longer one dominates are left out: an extra token that was drafted
itself could have been accepted, and one drawn at a path's end costs nothing.

Where an exchange of tokens changes nothing, an average over such exchanges is as good as any
solution: prefixes and drafts then stand for their orbits, and `exchangeable` lists the classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

Seen: TypeAlias = tuple[frozenset[Prefix], object]
"""What a draft shows: its drafted prefixes, and anything else (None if nothing)."""

VARIABLES = 10**6
"""Most variables that a program is built with."""

TOLERANCES = "primal_feasibility_tolerance", "dual_feasibility_tolerance"


@dataclass(frozen=True)
class World:
    """A target, the exact law of what is seen of the drafts in this world, and how much it counts."""

    target: Rows
    law: Mapping[Seen, fmpq]
    weight: fmpq = ONE


@dataclass(frozen=True)
class Output:
    """An output: the prefix at which it ends, and how many drafted tokens that accepts."""

    end: Prefix
    accepted: int


class Program:
    """The program of some worlds after one context; BadInput without drafts, or for more than VARIABLES."""

    def __init__(
        self, worlds: Sequence[World], context: Prefix = (), exchangeable: Sequence[Sequence[int]] = ()
    ):
        if not worlds or not worlds[0].law:
            raise BadInput("there is no draft to verify")
        self.worlds = worlds
        self.context = context
        self.exchangeable = exchangeable
        self.seen: dict[Seen, fmpq] = {}
        self.inner: set[Prefix] = set()
        for world in worlds:
            self.seen.update(world.law)
        for prefixes, _ in self.seen:
            self.inner.update(self.orbit(prefix[:-1]) for prefix in prefixes if len(prefix) > len(context))
        self.inner.add(context)
        self.where: dict[Seen, list[int]] = {seen: [] for seen in self.seen}
        for n, world in enumerate(worlds):
            for seen in world.law:
                self.where[seen].append(n)
        self.score = {seen: sum((worlds[n].weight for n in at), ZERO) for seen, at in self.where.items()}
        self.outputs = {seen: list(dict.fromkeys(self._outputs(seen))) for seen in self.seen}
        self.size = sum(map(len, self.outputs.values())) + len(worlds) * len(self.inner)
        if self.size > VARIABLES:
            raise BadInput(f"{self.size} variables; at most {VARIABLES} are solved for")

    def orbit(self, prefix: Prefix) -> Prefix:
        """The prefix that stands for this one and for what exchanges of tokens make of it."""
        return canonical(prefix, self.exchangeable, len(self.context)) if self.exchangeable else prefix

    def _outputs(self, seen: Seen) -> Iterator[Output]:
        prefixes, target = seen[0], self.worlds[self.where[seen][0]].target
        at = len(self.context)
        stack = [self.context]
        while stack:
            v = stack.pop()
            if (end := self.orbit(v)) not in self.inner:
                yield Output(end, len(v) - at)
                continue
            for x, mass in enumerate(target[v]):
                if mass > ZERO:
                    u = (*v, x)
                    if u in prefixes:
                        stack.append(u)
                    else:
                        yield Output(self.orbit(u), len(v) - at)

    def children(self, world: World, v: Prefix) -> list[tuple[Prefix, fmpq]]:
        """(u, p(u | v)) of every prefix, or orbit, u = vx that the target can emit after v."""
        below: dict[Prefix, fmpq] = {}
        for x, mass in enumerate(world.target[v]):
            if mass > ZERO:
                u = self.orbit((*v, x))
                below[u] = below.get(u, ZERO) + mass
        return list(below.items())

    def reached(self, world: World) -> list[Prefix]:
        """The inner prefixes that have positive probability in this world, shorter ones first."""
        out = [self.context]
        for v in out:
            out.extend(u for u, _ in self.children(world, v) if u in self.inner)
        return out


def canonical(prefix: Prefix, classes: Sequence[Sequence[int]], start: int) -> Prefix:
    """The prefix with the tokens of each class, from position `start` on, renamed in order of appearance.

    >>> canonical((2, 1, 2, 0), [[1, 2]], 0)
    (1, 2, 1, 0)
    """
    names: dict[int, int] = {}
    fresh: dict[int, Iterator[int]] = {}
    for group in classes:
        fresh.update(dict.fromkeys(group, iter(group)))
    for x in prefix[start:]:
        if x in fresh and x not in names:
            names[x] = next(fresh[x])
    return (*prefix[:start], *(names.get(x, x) for x in prefix[start:]))


def solve(program: Program) -> tuple[float, dict[Seen, np.ndarray], list[dict[Prefix, float]]]:
    """(value, f, mu) of a program, from HiGHS in floats.

    f[seen] follows program.outputs[seen]; mu[world][prefix] are the duals of the worlds' rows. Raises
    BadInput when HiGHS gives up.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    row_at: list[dict[Prefix, int]] = []
    cost: list[float] = []
    entries: list[tuple[int, int, float]] = []
    sides = [float(mass) for mass in program.seen.values()]
    for world in program.worlds:
        rows: dict[Prefix, int] = {}
        for v in program.reached(world):
            column = len(cost)
            if v != program.context:
                cost.append(0.0)
                entries.append((rows[v], column, 1.0))
            for u, p in program.children(world, v):
                rows[u] = len(sides)
                sides.append(float(p) if v == program.context else 0.0)
                if v != program.context:
                    entries.append((rows[u], column, -float(p)))
        row_at.append(rows)
    spans = []
    for n, (seen, outputs) in enumerate(program.outputs.items()):
        spans.append((len(cost), len(cost) + len(outputs)))
        score = float(program.score[seen])
        for output in outputs:
            column = len(cost)
            cost.append(-score * output.accepted)
            entries.append((n, column, 1.0))
            entries.extend((row_at[k][output.end], column, 1.0) for k in program.where[seen])
    at, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    matrix = csr_array((values, (at, columns)), shape=(len(sides), len(cost)))
    for presolve in (True, False):  # presolve at times takes rounding for infeasibility
        options = {"presolve": presolve, **dict.fromkeys(TOLERANCES, 1e-10)}
        found = linprog(np.array(cost), A_eq=matrix, b_eq=np.array(sides), method="highs", options=options)
        if found.x is not None:
            break
    else:
        raise BadInput(f"HiGHS found no valid rule: {found.message}")
    prices = -found.eqlin.marginals
    f = {seen: found.x[first:last] for seen, (first, last) in zip(program.seen, spans, strict=True)}
    mu = [{u: float(prices[n]) for u, n in rows.items()} for rows in row_at]
    return -float(found.fun), f, mu
