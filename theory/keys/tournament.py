"""SynthID's tournament of two layers on the rows of both models, which are then verified as they are.

A layer turns a row p into p(x) (1 + g(x) - sum p g), g the layer's fair bits: the law of the winner of two
tokens drawn from p, where the larger bit wins. On average over the bits it is p.
"""

from collections.abc import Sequence
from itertools import product

from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.rows import Row, one
from draftproof.theory.shared.coins import Coins, Name


def bits(coins: Coins, row: Row, name: Name) -> tuple[int, ...]:
    """A fair bit of a name for each token; ones alone are as zeros alone, which do the same."""
    zeros, *some, _ = product((0, 1), repeat=len(row))
    part = one(row) / 2 ** len(row)
    return [zeros, *some][coins.choose((2 * part, *(part for _ in some)), name)]


def layer(row: Row, g: Sequence[int]) -> Row:
    """The law after a layer.

    >>> from flint import fmpq
    >>> layer((fmpq(1, 4), fmpq(3, 4)), (1, 0))
    (7/16, 9/16)
    """
    mean = sum((mass for mass, bit in zip(row, g, strict=True) if bit), row[0] - row[0])
    return tuple([mass * (1 + bit - mean) for mass, bit in zip(row, g, strict=True)])


def played(coins: Coins, row: Row, name: Name, parameter: object = None) -> Row:
    """The law of the winner of two layers, given the bits of the name."""
    for n in range(2):
        row = layer(row, bits(coins, row, (*name, n)))
    return row


SCHEME = Keyed(
    "tournament", "dathathri2024synthid, high-detectability speculative sampling", rows="T", change=played
)
