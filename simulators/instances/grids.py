"""Exhaustive grids: every instance whose rows are rationals of one denominator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, log10

import numpy as np

from draftproof.simulators.laws.exact_lanes.lanes import Lanes
from draftproof.simulators.support.make import prefixes, weighted
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
    the context's last token. Raises BadInput beyond 10^18 instances.
    """

    draft: Scheme
    vocab: int
    denominator: int

    def __post_init__(self) -> None:
        free = 2 * sum(self.vocab**depth for depth in range(self.draft.depth))
        power = free * log10(comb(self.denominator + self.vocab - 1, self.vocab - 1))
        if power > 18:
            raise BadInput(f"{self.name}: about 10^{power:.0f} instances, more than can be numbered")

    @property
    def name(self) -> str:
        return f"grid {self.draft.label} depth {self.draft.depth} V={self.vocab} D={self.denominator}"

    def __len__(self) -> int:
        return comb(self.denominator + self.vocab - 1, self.vocab - 1) ** (2 * len(_free(self)))

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(index)
        free, possible = _free(self), _laws(self.vocab, self.denominator)
        chosen, code = [], index
        for _ in range(2 * len(free)):  # the free rows of p, then of q
            code, digit = divmod(code, len(possible))
            chosen.append(possible[digit])
        p = {word: weighted(self._fixed(word)) for word in self._words()}
        p |= zip(free, chosen[: len(free)], strict=True)
        q = dict(zip(free, chosen[len(free) :], strict=True))
        return Instance(Table(self.vocab, p), Table(self.vocab, q), self.draft, f"{self.name} #{index}")

    def distinct(self) -> Sequence[int]:
        """The indices of all instances but those that differ from an earlier one only in rows after prefixes
        that q never drafts. No verifier sees these rows, and the block's law is the target's beyond them.
        """
        first, kept = _laws(self.vocab, self.denominator)[0], []
        for index, each in enumerate(self):
            p, q = each.target, each.proposal
            unseen = [z for z in _free(self) if not all(q[z[:at]][x] for at, x in enumerate(z))]
            if all(p[z] is first is q[z] for z in unseen):
                kept.append(index)
        return kept

    def lanes(self, start: int, stop: int) -> Lanes:
        """The instances start .. stop - 1 as lanes of weights."""
        codes, possible = np.arange(start, stop), np.array(rows(self.vocab, self.denominator))
        tables: list[dict[Prefix, np.ndarray]] = [{}, {}]
        for which, prefix in product((0, 1), _free(self)):
            codes, digits = np.divmod(codes, len(possible))
            tables[which][prefix] = np.ascontiguousarray(possible[digits].T)
        for prefix in self._words():
            tables[0][prefix] = np.repeat([self._fixed(prefix)], len(codes), axis=0).T
        target, proposal = (Table(self.vocab, table) for table in tables)
        return Lanes(target, proposal, self.draft)

    def _words(self) -> Iterator[Prefix]:
        return product(range(self.vocab), repeat=self.draft.depth)

    def _fixed(self, prefix: Prefix) -> list[int]:
        return [1 + (x == prefix[-1]) for x in range(self.vocab)]


@cache
def _free(grid: Grid) -> list[Prefix]:
    return list(prefixes(grid.vocab, grid.draft.depth - 1))


@cache
def _laws(vocab: int, denominator: int) -> list[Row]:
    return [weighted(list(weights)) for weights in rows(vocab, denominator)]
