"""SynthID's tournament of two layers: drafted tokens by one key, the extra token by another.

A layer turns a row p into p(x) (1 + g(x) - sum p g), g the layer's fair bits: the law of the winner of two
tokens drawn from p, where the larger bit wins. On average over the bits it is p.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.rows import Row, one
from draftproof.theory.shared.coins import Coins, Name

LAYERS = 2


def lists(row: Row) -> tuple[list[tuple[int, ...]], Row]:
    """A bit for each token, in every way, and the probability of each; ones alone do what zeros alone do."""
    zeros, *some, _ = product((0, 1), repeat=len(row))
    part = one(row) / 2 ** len(row)
    return [zeros, *some], (2 * part, *(part for _ in some))


def won(row: Row, g: Sequence[int]) -> Row:
    """The law after a layer.

    >>> from flint import fmpq
    >>> won((fmpq(1, 4), fmpq(3, 4)), (1, 0))
    (7/16, 9/16)
    """
    mean = sum((mass for mass, bit in zip(row, g, strict=True) if bit), row[0] - row[0])
    return tuple([mass * (1 + bit - mean) for mass, bit in zip(row, g, strict=True)])


def played(coins: Coins, row: Row, name: Name, parameter: object = None) -> Row:
    """The law of the winner, given the bits of the name."""
    bits, shares = lists(row)
    return reduce(won, [bits[coins.choose(shares, (*name, layer))] for layer in range(LAYERS)], row)


def drawn(coins: Coins, row: Row, name: Name | None) -> int:
    """A token from the winner's law."""
    if name is None:
        return coins.choose(row)
    ways = [*product(zip(*lists(row), strict=True), repeat=LAYERS)]
    laws = [reduce(won, [bits for bits, _ in way], row) for way in ways]
    return coins.mixed(laws, tuple([prod(share for _, share in way) for way in ways]), name)


SCHEME = Keyed(
    "tournament", "dathathri2024synthid, fast speculative sampling", draft="A", extra="B", draw=drawn
)
