"""Named coins: choices of one name are one random variable for the whole run, however often it is read.

A watermark's draws are functions of a key and of the last tokens, an engine may seed its draft and its target
alike, a request may repeat a stream. Such a coin has a name. What is drawn with it is exact: over all keys a
name is one uniform in [0, 1), drawn lazily.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Row, add, maximum, minimum, normalise, one, scale

Name: TypeAlias = tuple[Any, ...]
"""What a coin is a function of: its key first, then its context, then what else tells it from others."""

Part: TypeAlias = tuple[Any, ...]
"""What is known of a name: the part of [0, 1) in which its uniform lies, or shares of what it may decide."""


class Coins:
    """An oracle whose choices may carry a name; one without a name is fresh, and is passed on as it is.

    A choice with a name is made by inversion of the name's uniform: the part in which it is known to lie is
    split at the row's cumulative sums, each piece with its relative length, and `known` keeps the piece. So
    the law stays rational for any number of choices with any rows. At two tokens inversion is the Gumbel-max
    rule, whose winner depends on E_0 / (E_0 + E_1) alone. `named`: who answers choices with a name, if it is
    another oracle. `again`: the names that were read more than once.

    >>> from draftproof.simulators.laws.enumerate import outcomes
    >>> from draftproof.theory.numbers import exact
    >>> half, third = (exact("1/2"), exact("1/2")), (exact("1/3"), exact("2/3"))
    >>> def twice(oracle):
    ...     coins = Coins(oracle)
    ...     return coins.choose(half, ("A",)), coins.choose(third, ("A",)), coins.choose(half)
    >>> [(weight, drawn[:2]) for weight, drawn in outcomes(twice) if drawn[2] == 0]
    [(1/6, (0, 0)), (1/12, (0, 1)), (1/4, (1, 1))]
    """

    def __init__(self, oracle: Oracle, known: dict[Name, Part] | None = None, named: Oracle | None = None):
        self.oracle, self.named = oracle, named or oracle
        self.known = {} if known is None else known
        self.again: set[Name] = set()

    def choose(self, row: Row, name: Name | None = None) -> int:
        if name is None:
            return self.oracle.choose(row)
        whole = one(row)
        if name in self.known:
            self.again.add(name)
        low, high = self.known.get(name, (whole - whole, whole))
        ends = [minimum(maximum(end, low), high) for end in accumulate(row, initial=whole - whole)]
        ends[-1] = high  # of rows that floats have rounded
        x = self.named.choose(tuple([(b - a) / (high - low) for a, b in pairwise(ends)]))
        self.known[name] = ends[x], ends[x + 1]
        return x

    def mixed(self, laws: Sequence[Row], shares: Row, name: Name) -> int:
        """A fresh token from one of the laws; the name decides from which one, with these shares. Of the name
        is kept what the token tells: the shares that it leaves.
        """
        if self.named is not self.oracle:
            return self.oracle.choose(laws[self.choose(shares, name)])
        if name in self.known:
            self.again.add(name)
        parts = [scale(share, law) for share, law in zip(self.known.get(name, shares), laws, strict=True)]
        x = self.oracle.choose(reduce(add, parts))
        self.known[name] = tuple(normalise([part[x] for part in parts]))
        return x

    def accept(self, probability: Number, name: Name | None = None) -> bool:
        """Whether the uniform is below the probability."""
        if name is None:
            return self.oracle.accept(probability)
        return not self.choose((probability, 1 - probability), name)
