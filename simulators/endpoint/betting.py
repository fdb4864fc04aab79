"""Tests by betting: wealth that grows only if outcomes do not follow their law (shafer2021testing).

A bet multiplies the wealth by the ratio of a predicted law, made from what was seen before, to the law under
test. If the outcome follows that law, the wealth is a non-negative supermartingale that starts at 1, and by
Ville's inequality it ever reaches 1/error with a probability of at most `error`, whenever one stops.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TypeAlias

import numpy as np

from draftproof.simulators.endpoint.laws import Law
from draftproof.simulators.support.anytime import Wealth

PSEUDO_COUNTS = np.array([32.0, 128.0, 512.0])
"""Expected outcomes after which a cell's own frequency counts as much as the law; every value is tried."""

RANKS = 6
"""Ranks of likely tokens that have cells of their own; less likely ones share one."""


@dataclass(frozen=True)
class Context:
    """What is known before a token is drawn: the number of its prompt, the tokens before it and their
    ranks, and the rank of the same position in the choice before it of the same request (-1: none).
    """

    prompt: int
    before: tuple[str, ...]
    ranks: tuple[int, ...]
    beside: int = -1


Cells: TypeAlias = Callable[[Context, Law], Sequence[Hashable]]
"""Sorts the possible outcomes of a token, in the order of `Law.masses`, into cells."""


def _ranks(law: Law) -> list[int]:
    return [min(n, RANKS) for n in range(len(law.masses))]


def _names(law: Law) -> tuple[str, ...]:
    return (*law.tokens, "") if law.rest else law.tokens


LAW: dict[str, Cells] = {
    "rank": lambda at, law: [(len(at.before), rank) for rank in _ranks(law)],
    "pair": lambda at, law: [(len(at.before), at.ranks[-1:], rank) for rank in _ranks(law)],
    "probability": lambda at, law: (-np.log2(law.masses.clip(2**-9, 1))).astype(int).tolist(),
    "token": lambda at, law: [(at.prompt, len(at.before), name) for name in _names(law)],
    "text": lambda at, law: [(at.prompt, at.before, name) for name in _names(law)],
}
"""Sortings by which a wrong law shows: by rank at each position, alone and after the last token's rank,
by probability, by token at each position of each prompt, and by the whole text before it."""

BATCH: dict[str, Cells] = {"beside": lambda at, law: [(at.beside, rank) for rank in _ranks(law)]}
"""By which texts of one batch that depend on one another show."""

FEW: dict[str, Cells] = {
    "rank": lambda at, law: _ranks(law),
    "token": lambda at, law: _names(law),
    "again": lambda at, law: [name in at.before for name in _names(law)],
}
"""For short tests: by rank, by token, and whether the text already has it, which penalties change."""


class Mixture(Wealth):
    """The mean of several bets, each with a wealth of its own for each of `PSEUDO_COUNTS`."""

    def __init__(self, error: float, names: Iterable[str]):
        super().__init__(error)
        self.experts = {name: np.zeros(len(PSEUDO_COUNTS)) for name in names}

    def mix(self) -> None:
        """Sets the wealth to the mean, after every bet has gained or lost."""
        every = np.concatenate(list(self.experts.values()))
        top = float(every.max())
        self.to(inf if self.log_e == inf else top + log(float(np.exp(every - top).mean())))


class Bets(Mixture):
    """The mean of bets that sort outcomes into cells and tilt the law by how often a cell was hit before.

    In a cell that was hit N times and expected M times, probabilities are multiplied by (a + N) / (a + M),
    for every a of `PSEUDO_COUNTS`, and normalised.

    >>> even = Law(("a", "b"), np.array([0.5, 0.5]), 0.0)
    >>> bets = Bets(0.001, FEW)
    >>> while not bets.rejected:
    ...     bets.update(Context(0, (), ()), even, 0)
    >>> bets.runs
    43
    """

    def __init__(self, error: float, sortings: Mapping[str, Cells]):
        super().__init__(error, sortings)
        self.sortings = sortings
        self.cells: dict[str, dict[Hashable, list[float]]] = {name: {} for name in sortings}

    def update(self, context: Context, law: Law, place: int) -> None:
        """Adds an outcome, by its place in `law.masses`; -1, a forbidden one, rejects at once."""
        if place < 0:
            self.to(inf)
            return
        masses = law.masses
        for name, sort in self.sortings.items():
            cells, keys = self.cells[name], sort(context, law)
            found = [cells.setdefault(key, [0.0, 0.0]) for key in keys]
            hits, expected = np.array(found).T
            tilt = (PSEUDO_COUNTS[:, None] + hits) / (PSEUDO_COUNTS[:, None] + expected)
            self.experts[name] += np.log(tilt[:, place] / (tilt @ masses))
            found[place][0] += 1
            for cell, mass in zip(found, masses.tolist(), strict=True):
                cell[1] += mass
        self.mix()
