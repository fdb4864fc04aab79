"""Coins that a function wants as plain numbers: its law is piecewise constant in each of them.

The pieces of one coin are found with the others held: on a grid, and between two grid points that
differ by bisection down to neighbouring floats. Each piece is then opened into the pieces of the
next coin. A piece thinner than 1/GRID between two equal ones can be missed, which is why a verdict
reached this way says so.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.randomness.sources import Fixed, Source
from draftproof.simulators.audit.randomness.world import NotEnumerable, World, dyadic, weights
from draftproof.simulators.enumerate import Enumerator, outcomes
from draftproof.theory.numbers import ONE
from draftproof.theory.oracle import Oracle

GRID, PROBES, MOST = 32, 24, 8
"""Points at which each coin is looked at first, points at which each box is tried, most coins of a call."""

Read = Callable[[Sequence[float]], tuple[Hashable, int]]
"""Given coins -> (what happens, how many coins were asked for)."""

_ANYWHERE = np.random.Generator(np.random.PCG64(1)).random((PROBES, MOST))  # with all their bits: hashes show

_LATER = [[0.5], [0.03], [0.97], [0.31, 0.77, 0.13, 0.59, 0.87], [0.83, 0.21, 0.68, 0.05, 0.44]]
"""How later coins are held while one is looked at."""


class Plain(Fixed):
    """Given coins as plain floats, the last again when they run out; draws go to the enumeration."""

    def __init__(self, coins: Sequence[float], oracle: Oracle):
        super().__init__(coins)
        self.fine = 2.0**-30  # float32 coins are told apart well above this
        self.world = World(oracle)

    def uniform(self, kind: type = np.float64) -> Any:
        if kind is np.float64:
            self.fine = 0.0
        return super().uniform(kind)

    def choose(self, row: Any) -> int:
        return self.world.choose(weights(row))


def law_by_boxes(program: Callable[[Source], Any], weight: fmpq) -> Iterator[tuple[fmpq, Any]]:
    """(weight, result) of a program whose coins must be plain numbers; raises NotEnumerable.

    >>> sorted((str(w), r) for w, r in law_by_boxes(lambda source: int(float(source.uniform()) < 0.25), ONE))
    [('1/4', 1), ('3/4', 0)]
    """

    def read(coins: Sequence[float]) -> tuple[Hashable, int]:
        asked, found = 0, []
        oracle_source: list[Plain] = []

        def run(oracle: Oracle) -> Any:
            source = Plain(coins, oracle)
            oracle_source.append(source)
            return program(source)

        for mass, result in outcomes(run):
            asked = max(asked, oracle_source[-1].drawn)
            found.append((result if isinstance(result, tuple) else _token(result), mass, result))
        found.sort(key=lambda each: repr(each[:2]))
        return _Same(tuple(each[:2] for each in found), [each[1:] for each in found]), asked

    with_half = Plain(_LATER[0], Enumerator(ONE))
    program(with_half)
    for size, happened in boxes(read, with_half.fine):
        for mass, result in happened.results:
            yield weight * size * mass, result


class _Same:
    # Equal when the same words have the same masses; keeps the results themselves.
    def __init__(self, told: Hashable, results: list[tuple[fmpq, Any]]):
        self.told, self.results = told, results

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.told == other.told

    def __hash__(self) -> int:
        return hash(self.told)


def _token(result: Any) -> Hashable:
    return getattr(result, "kind", None) or repr(result)


def boxes(read: Read, fine: float = 0.0) -> Iterator[tuple[fmpq, Any]]:
    """(volume, what happens) of the boxes in the space of coins in which one thing happens.

    Where a coin tips is found to within `fine`, or to neighbouring floats.
    """
    yield from _opened(read, fine, [], [])


def _opened(
    read: Read, fine: float, held: list[float], sides: list[tuple[float, float]]
) -> Iterator[tuple[fmpq, Any]]:
    happened, asked = read([*held, *_LATER[0]])
    if asked <= len(held):
        _must_be_constant(read, happened, sides)
        volume = ONE
        for low, high in sides:
            volume *= dyadic(high) - dyadic(low)
        yield volume, happened
        return
    if len(held) >= MOST:
        raise NotEnumerable(f"it asks for more than {MOST} coins as plain numbers")
    known: dict[float, Hashable] = {}

    def seen(u: float) -> Hashable:
        if u not in known:
            known[u] = tuple(read([*held, u, *later])[0] for later in _LATER)
        return known[u]

    cuts = [0.0, *_cuts(seen, fine), 1.0]
    for low, high in pairwise(cuts):
        yield from _opened(read, fine, [*held, (low + high) / 2], [*sides, (low, high)])


def _cuts(seen: Callable[[float], Hashable], fine: float) -> list[float]:
    within = _ANYWHERE.ravel()
    grid = [2.0**-40, *(float(i + within[i]) / GRID for i in range(GRID)), 1 - 2.0**-40]
    found = []
    for a, b in pairwise(grid):
        while seen(a) != seen(b):
            low, high = a, b
            while high - low > fine and (middle := (low + high) / 2) not in (low, high):
                low, high = (middle, high) if seen(middle) == seen(a) else (low, middle)
            found.append(high)
            if len(found) > 4 * GRID:
                raise NotEnumerable("what happens changes with a coin too often to be followed")
            a = high
    return found


def _must_be_constant(read: Read, happened: Any, sides: list[tuple[float, float]]) -> None:
    for shares in _ANYWHERE if sides else ():
        inside = [
            low + (high - low) * float(share) for share, (low, high) in zip(shares, sides, strict=False)
        ]
        if read(inside)[0] != happened:
            raise NotEnumerable("its law is not piecewise constant in each coin, or in too many pieces")
