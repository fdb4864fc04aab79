"""The value of the linear program of one valid iteration, solved by HiGHS and certified exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix
from draftproof.theory.transport.bounds import dual_bound, primal_bound
from draftproof.theory.transport.program import Program, Seen, World

TOLERANCES = "primal_feasibility_tolerance", "dual_feasibility_tolerance"


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


def optimum(worlds: Sequence[World], context: Prefix = (), alike: Sequence[Sequence[int]] = ()) -> Optimum:
    """The largest weighted sum of E[tau] over the worlds of a rule that is valid in each of them.

    `alike` lists the classes of tokens that may change places (`symmetry.classes`). Raises BadInput
    when the program is too large, or HiGHS gives up on it.

    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> from draftproof.theory.table import Table
    >>> law = {(frozenset({(), (x,)}), None): q[x] for x in (0, 1)}
    >>> found = optimum([World(Table(2, {(): p}), law)])
    >>> round(found.value, 9), found.lower <= fmpq(2, 3) <= found.upper, found.error < 1e-9
    (0.666666667, True, True)
    """
    program = Program(worlds, context, alike)
    value, f, mu = solve(program)
    upper = dual_bound(program, mu)
    lower = primal_bound(program, f) if len(worlds) == 1 else None
    return Optimum(value, lower, upper, program.size, len(f) + sum(map(len, mu)))


def solve(program: Program) -> tuple[float, dict[Seen, np.ndarray], list[dict[Prefix, float]]]:
    """(value, f by what is seen and output, mu by world and prefix) of a program, from HiGHS in floats.

    f[seen] follows program.outputs[seen]; mu are the duals of the worlds' rows. Raises BadInput.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    row_at: list[dict[Prefix, int]] = []
    cost: list[float] = []
    entries: list[tuple[int, int, float]] = []
    due = [float(mass) for mass in program.seen.values()]
    for world in program.worlds:
        rows: dict[Prefix, int] = {}
        for v in program.reached(world):
            column = len(cost)
            if v != program.context:
                cost.append(0.0)
                entries.append((rows[v], column, 1.0))
            for u, p in program.children(world, v):
                rows[u] = len(due)
                due.append(float(p) if v == program.context else 0.0)
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
    matrix = csr_array((values, (at, columns)), shape=(len(due), len(cost)))
    for presolve in (True, False):  # which at times takes rounding for infeasibility
        options = {"presolve": presolve, **dict.fromkeys(TOLERANCES, 1e-10)}
        found = linprog(np.array(cost), A_eq=matrix, b_eq=np.array(due), method="highs", options=options)
        if found.x is not None:
            break
    else:
        raise BadInput(f"HiGHS found no valid rule: {found.message}")
    prices = -found.eqlin.marginals
    f = {seen: found.x[first:last] for seen, (first, last) in zip(program.seen, spans, strict=True)}
    mu = [{u: float(prices[n]) for u, n in rows.items()} for rows in row_at]
    return -float(found.fun), f, mu
