"""The law of a function that needs its coins as plain numbers; it is piecewise constant in each coin.

The pieces of one coin are found with the other coins held fixed: on a grid, and by bisection between grid
points that differ. Each piece is then split into the pieces of the next coin. A piece thinner than 1/GRID
between two equal ones can be missed, so the report says that coins were read by bisection.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins.sources import Fixed, Source
from draftproof.simulators.audit.coins.state import CoinState, NotEnumerable, dyadic, weights
from draftproof.simulators.laws.enumerate import Enumerator, outcomes
from draftproof.theory.numbers import ONE
from draftproof.theory.oracle import Oracle

GRID, PROBES, COINS_IN_CALL = 32, 24, 8  # grid points per coin; probes per box; most coins per call

Read = Callable[[Sequence[float]], tuple[Hashable, int]]  # coins -> (result, number of coins used)

_ANYWHERE = np.random.Generator(np.random.PCG64(1)).random((PROBES, COINS_IN_CALL))
"""Random bits, which detect hashing."""

_LOW, _HIGH = 2.0**-40, 1 - 2.0**-40

_LATER = [
    [0.5],
    [_LOW],
    [_HIGH],
    [_LOW, _HIGH],
    [_HIGH, _LOW],
    [0.31, 0.77, 0.13, 0.59, 0.87],
    [0.83, 0.21, 0.68, 0.05, 0.44],
]
"""The values at which later coins are held while one is varied. Many coins matter only if later ones accept,
or only if they reject, which may be almost certain or almost impossible.
"""


class Plain(Fixed):
    """Given coins as plain floats (the last is repeated if they run out); draws go to the enumeration."""

    again = False
    mirrored = False  # so that the coins of a box give the same run again

    def __init__(self, coins: Sequence[float], oracle: Oracle):
        super().__init__(coins)
        self.chosen: list[int] = []
        self.fine = 2.0**-30  # float32 coins differ by far more than this
        self.state = CoinState(oracle)

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        if kind is np.float64:
            self.fine = 0.0
        return super().uniform(kind)

    def choose(self, row: Any, use: Hashable = "") -> int:
        self.chosen.append(self.state.choose(weights(row)))
        return self.chosen[-1]


def law_by_boxes(
    program: Callable[[Source], Any], weight: fmpq
) -> Iterator[tuple[fmpq, Any, tuple[float, ...], list[int]]]:
    """(weight, result, the coins and choices that lead to it) of a program whose coins must be plain numbers.
    Raises NotEnumerable.
    """
    results: dict[Hashable, list[tuple[fmpq, Any, list[int]]]] = {}

    def read(coins: Sequence[float]) -> tuple[Hashable, int]:
        sources: list[Plain] = []

        def run(oracle: Oracle) -> Any:
            sources.append(Plain(coins, oracle))
            return program(sources[-1])

        found = []
        for mass, result in outcomes(run):
            kind = result if isinstance(result, tuple) else getattr(result, "kind", None) or repr(result)
            found.append((kind, mass, result, sources[-1].chosen))
        found.sort(key=lambda each: repr(each[:2]))
        happened = tuple(each[:2] for each in found)
        results.setdefault(happened, [each[1:] for each in found])
        return happened, max(source.drawn for source in sources)

    first = Plain(_LATER[0], Enumerator(ONE))
    program(first)
    for size, happened, held in boxes(read, first.fine, [], []):
        for mass, result, chosen in results[happened]:
            yield weight * size * mass, result, held, chosen


def boxes(
    read: Read, fine: float, held: list[float], sides: list[tuple[float, float]]
) -> Iterator[tuple[fmpq, Hashable, tuple[float, ...]]]:
    """(volume, result, middle) of the boxes in the space of coins on which the result is constant.

    The first coins are held at `held`, each inside its interval of `sides`. A boundary between two boxes is
    found with accuracy `fine`, or to neighbouring floats.
    """
    happened, used = read([*held, *_LATER[0]])
    if used <= len(held):
        for parts in _ANYWHERE.tolist() if sides else ():
            inside = [low + (high - low) * part for part, (low, high) in zip(parts, sides, strict=False)]
            if read(inside)[0] != happened:
                raise NotEnumerable("its law is not piecewise constant in each coin, or in too many pieces")
        volume = prod((dyadic(high) - dyadic(low) for low, high in sides), start=ONE)
        yield volume, happened, tuple(held)
        return
    if len(held) >= COINS_IN_CALL:
        raise NotEnumerable(f"it asks for more than {COINS_IN_CALL} coins as plain numbers")
    known: dict[tuple[float, int], tuple[Hashable, int]] = {}

    def happens(u: float, later: int) -> tuple[Hashable, int]:
        if (u, later) not in known:
            known[u, later] = read([*held, u, *_LATER[later]])
        return known[u, later]

    for low, high in pairwise([0.0, *_cuts(happens, len(held) + 1, fine), 1.0]):
        yield from boxes(read, fine, [*held, (low + high) / 2], [*sides, (low, high)])


def _cuts(happens: Callable[[float, int], tuple[Hashable, int]], coins: int, fine: float) -> list[float]:
    # Where the result changes as the last of the first `coins` coins varies, whatever later ones are.
    within = _ANYWHERE.ravel()
    grid = [_LOW, *(float(i + within[i]) / GRID for i in range(GRID)), _HIGH]
    found: list[float] = []

    def differs(a: float, b: float) -> int | None:  # the first setting of later coins that shows it
        for later in range(len(_LATER)):
            (one, read_a), (other, read_b) = happens(a, later), happens(b, later)
            if one != other:
                return later
            if max(read_a, read_b) <= coins:
                return None  # later coins are not read
        return None

    for a, b in pairwise(grid):
        while (later := differs(a, b)) is not None:
            low, high = a, b
            while high - low > fine and (middle := (low + high) / 2) not in (low, high):
                same = happens(middle, later)[0] == happens(a, later)[0]
                low, high = (middle, high) if same else (low, middle)
            found.append(high)
            if len(found) > 4 * GRID:
                raise NotEnumerable("the result changes too often as one coin varies")
            a = high
    return found
