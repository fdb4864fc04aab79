"""The value of one level's largest flow by its least cut, where few tokens make listing all sets cheap."""

from collections.abc import Sequence
from itertools import combinations, product
from math import prod

from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Row
from draftproof.theory.transport.broods import Draws

LISTED = 4
"""Largest vocabulary of which it is worth while to list every set of tokens."""


def left(rows: Sequence[Row], laws: Sequence[Draws], room: fmpq) -> fmpq:
    """What a largest `level.plan` leaves of the room: over sets S_i of tokens for each node i, the largest

        room prod_i Pr(all draws of node i in S_i) - sum_i rows_i(S_i).

    >>> from draftproof.theory.numbers import exact
    >>> from draftproof.theory.transport.broods import law
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> left([p], [law(q, ((), ()), True, False)], ONE)
    1/9
    """
    cuts = [_cuts(row, law) for row, law in zip(rows, laws, strict=True)]
    return max(
        room * prod((inside for _, inside in each), start=ONE) - sum((mass for mass, _ in each), ZERO)
        for each in product(*cuts)
    )


def _cuts(row: Row, law: Draws) -> list[tuple[fmpq, fmpq]]:
    # (row(S), Pr(all draws in S)) of every set S of tokens.
    drawn = [({x for x, _ in brood}, chance) for brood, chance in law.items()]
    out = []
    for size in range(len(row) + 1):
        for S in combinations(range(len(row)), size):
            inside = sum((chance for tokens, chance in drawn if tokens.issubset(S)), ZERO)
            out.append((sum((row[x] for x in S), ZERO), inside))
    return out
