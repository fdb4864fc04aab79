"""Named coins: choices of one name are one random variable for the whole run, however often it is read.

A watermark's draws are functions of a key and of the last tokens, an engine may seed its draft and its target
alike, a request may repeat a stream. Such a coin has a name. What is drawn with it is exact: over all keys a
name is a race of exponential clocks, one a token (Gumbel-max), of which only what was seen is known.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, total
from draftproof.theory.shared.memo import remembered

Name: TypeAlias = tuple[Any, ...]
"""What a coin is a function of: its key first, then its context, then what else tells it from others."""

Pair: TypeAlias = tuple[int, ...]

Known: TypeAlias = tuple[tuple[Pair, fmpq], ...]
"""What is known of a name's clocks E: ((a, b), c) says that E_a is at least c E_b."""


class Coins:
    """Beside an oracle, whose choices are fresh, choices that carry a name.

    The token x is drawn whose E_x / p_x is least, so that one name may be read under any number of rows. An
    acceptance coin is a race of two. `named`: who answers choices with a name, if it is another oracle.
    `again`: the names that were read more than once.

    >>> from draftproof.simulators.laws.enumerate import outcomes
    >>> from draftproof.theory.numbers import exact
    >>> half, third = (exact("1/2"), exact("1/2")), (exact("1/3"), exact("2/3"))
    >>> def twice(oracle):
    ...     coins = Coins(oracle)
    ...     return coins.choose(half, ("A",)), coins.choose(third, ("A",)), oracle.choose(half)
    >>> [(weight, drawn[:2]) for weight, drawn in outcomes(twice) if drawn[2] == 0]
    [(1/6, (0, 0)), (1/12, (0, 1)), (1/4, (1, 1))]
    """

    def __init__(self, oracle: Oracle, known: dict[Name, Known] | None = None, named: Oracle | None = None):
        self.oracle, self.named = oracle, named or oracle
        self.known = {} if known is None else known
        self.again: set[Name] = set()

    def choose(self, row: Row, name: Name) -> int:
        if name in self.known:
            self.again.add(name)
        law, after = race(self.known.get(name, ()), row)
        x = self.named.choose(law)
        self.known[name] = after[x]
        return x


@remembered(2**16)
def race(known: Known, row: Row) -> tuple[Row, list[Known]]:
    """The law of who wins under a row, given what is known of the clocks, and what is known after each; as
    much mass as the row has.
    """
    law, after, clocks = [], list[Known](), dict.fromkeys(range(len(row)), ONE)
    share = total(row) / integral(dict(known), clocks)
    for x, mass in enumerate(row):
        bounds = dict(known)
        for y, other in enumerate(row):
            if mass and other and y != x:
                bounds[y, x] = max(bounds.get((y, x), ZERO), other / mass)
        law.append(integral(bounds, clocks) * share if mass else ZERO)
        after.append(tuple(sorted(bounds.items(), key=lambda bound: bound[0])))
    return tuple(law), after


def integral(bounds: Mapping[Pair, fmpq], rates: Mapping[int, fmpq]) -> fmpq:
    """The integral of exp(-sum r_a E_a) where E_a >= c E_b for each (a, b): c; for rates 1 a probability.

    A clock goes from the greatest of its lower bounds, each in turn; where one is above it, what is beyond
    is taken away.

    >>> integral({(1, 0): fmpq(2)}, {0: ONE, 1: ONE})
    1/3
    """
    if not bounds:
        return 1 / prod(rates.values(), start=ONE)
    if any(c * bounds.get((b, a), ZERO) >= 1 for (a, b), c in bounds.items()):
        return ZERO
    clock = min((a for a, _ in bounds), key=lambda a: sum(b == a for _, b in bounds))
    for above in bounds:
        if above[1] == clock:
            beyond, rest = above[::-1], {pair: c for pair, c in bounds.items() if pair != above}
            more = max(rest.get(beyond, ZERO), 1 / bounds[above])
            return integral(rest, rates) - integral({**rest, beyond: more}, rates)
    starts = {b: c for (a, b), c in bounds.items() if a == clock}
    rest = {pair: c for pair, c in bounds.items() if pair[0] != clock}
    others, found = {a: rate for a, rate in rates.items() if a != clock}, ZERO
    for at, c in starts.items():
        first = {(at, b): max(rest.get((at, b), ZERO), low / c) for b, low in starts.items() if b != at}
        found += integral(rest | first, others | {at: others[at] + rates[clock] * c})
    return found / rates[clock]
