"""Exhaustive grids: every instance whose rows are rationals of one denominator."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import comb, log10
from typing import ClassVar

import numpy as np

from draftproof.simulators.laws.lanes import Lanes
from draftproof.simulators.support.make import prefixes, tabulate, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table


@cache
def rows(vocab: int, denominator: int) -> tuple[tuple[int, ...], ...]:
    """Every row of V whole-number weights with the given sum: (0, 2), (1, 1), (2, 0)."""
    cuts = combinations(range(denominator + vocab - 1), vocab - 1)
    ends = ((-1, *cut, denominator + vocab - 1) for cut in cuts)
    return tuple(tuple(b - a - 1 for a, b in pairwise(end)) for end in ends)


@dataclass(frozen=True)
class Grid(Sequence[Instance]):
    """All instances in which every row above the draft's depth, of p and of q, has denominator D.

    The target's rows at full depth, which only the bonus token uses, are fixed: twice the mass on
    the context's last token.

    With `symmetric` only one instance of each orbit under relabelling the tokens is kept. This is
    sound for verifiers and drafts that do not order tokens (`Verifier.ordered`, schemes chain, tree
    and paths): relabelling p and q relabels their runs, and so law, total variation and E[tau]; the
    fixed rows are relabelled in the same way. Raises BadInput beyond 10^18 instances.
    """

    draft: Scheme
    vocab: int
    denominator: int
    symmetric: bool = False
    weighted: ClassVar[bool] = True  # its lanes are weights, which `decide` takes

    def __post_init__(self) -> None:
        free = 2 * sum(self.vocab**depth for depth in range(self.draft.depth))
        power = free * log10(comb(self.denominator + self.vocab - 1, self.vocab - 1))
        if power > 18:
            raise BadInput(f"{self.name}: about 10^{power:.0f} instances, more than can be numbered")

    @property
    def name(self) -> str:
        kind = "orbits" if self.symmetric else "grid"
        return f"{kind} {self.draft.label} depth {self.draft.depth} V={self.vocab} D={self.denominator}"

    @property
    def size(self) -> int:
        """The number of instances before the reduction by symmetry."""
        return comb(self.denominator + self.vocab - 1, self.vocab - 1) ** (2 * len(_free(self)))

    def __len__(self) -> int:
        return len(_kept(self))

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(index)
        code, free = _kept(self)[index], _free(self)
        chosen = [weighted(list(weights)) for weights in self.decoded(code)]
        p = dict(zip(free, chosen[: len(free)], strict=True))
        q = dict(zip(free, chosen[len(free) :], strict=True))

        def target(prefix: Prefix) -> Row:
            return p[prefix] if prefix in p else weighted(self._fixed(prefix))

        return tabulate(self.vocab, self.draft, target, q.__getitem__, f"{self.name} #{code}")

    def lanes(self, start: int, stop: int) -> Lanes:
        """The instances start .. stop - 1 as lanes of weights."""
        codes, possible = np.array(_kept(self)[start:stop]), np.array(rows(self.vocab, self.denominator))
        tables: list[dict[Prefix, np.ndarray]] = [{}, {}]
        for which, prefix in product((0, 1), _free(self)):
            codes, digits = np.divmod(codes, len(possible))
            tables[which][prefix] = np.ascontiguousarray(possible[digits].T)
        for prefix in product(range(self.vocab), repeat=self.draft.depth):
            tables[0][prefix] = np.repeat([self._fixed(prefix)], len(codes), axis=0).T
        target, proposal = (Table(self.vocab, table) for table in tables)
        return Lanes(target, proposal, self.draft)

    def _fixed(self, prefix: Prefix) -> list[int]:
        return [1 + (x == prefix[-1]) for x in range(self.vocab)]

    def decoded(self, code: int) -> list[tuple[int, ...]]:
        """The weights that a code stands for: the free rows of p, then of q."""
        possible = rows(self.vocab, self.denominator)
        digits = []
        for _ in range(2 * len(_free(self))):
            code, digit = divmod(code, len(possible))
            digits.append(possible[digit])
        return digits


@cache
def _free(grid: Grid) -> list[Prefix]:
    return list(prefixes(grid.vocab, grid.draft.depth - 1))


@cache
def _kept(grid: Grid) -> Sequence[int]:
    everything = range(grid.size)
    return [code for code in everything if _leads_its_orbit(grid, code)] if grid.symmetric else everything


def _leads_its_orbit(grid: Grid, code: int) -> bool:
    tables = dict(zip(product((0, 1), _free(grid)), grid.decoded(code), strict=True))
    mine = list(tables.values())
    for s in permutations(range(grid.vocab)):
        image = {
            (which, tuple(s[x] for x in prefix)): tuple(row[s.index(x)] for x in range(grid.vocab))
            for (which, prefix), row in tables.items()
        }
        if [image[key] for key in tables] < mine:
            return False
    return True
