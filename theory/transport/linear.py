"""Sparse linear programs, written row by row and column by column, and solved in floats by HiGHS."""

from collections.abc import Iterable

import numpy as np

from draftproof.theory.errors import BadInput

TIGHT = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)


class Linear:
    """Minimise a linear function of at most `most` variables >= 0; rows and columns are numbered."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.cost: list[float] = []
        self.sides: list[float] = []
        self.entries: list[tuple[int, int, float]] = []

    def row(self, side: float = 0.0) -> int:
        self.sides.append(side)
        return len(self.sides) - 1

    def column(self, entries: Iterable[tuple[int, float]], cost: float = 0.0) -> int:
        if len(self.cost) == self.most:
            raise BadInput(f"more than {self.most:,} variables: the drafts or the text are too long")
        at = len(self.cost)
        self.entries.extend((row, at, value) for row, value in entries)
        self.cost.append(cost)
        return at

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """(solution, prices of the rows), which are equations. BadInput if HiGHS gives up."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        rows, columns, values = (np.array(part) for part in zip(*self.entries, strict=True))
        matrix = csr_array((values, (rows, columns)), shape=(len(self.sides), len(self.cost)))
        for options in (TIGHT, {**TIGHT, "presolve": False}, {}):  # presolve may mistake rounding
            found = linprog(
                np.array(self.cost),
                A_eq=matrix,
                b_eq=np.array(self.sides),
                bounds=(0, None),
                method="highs",
                options=options,
            )
            if found.x is not None:
                break
        else:
            raise BadInput(f"HiGHS found no optimum: {found.message}")
        return found.x, found.eqlin.marginals
