"""Where a row can stand: positions of its slider, all of them exact rows."""

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from draftproof.simulators.instances.make import prefixes
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table

SCALES: dict[int, tuple[fmpq, ...]] = {
    5: (ZERO, fmpq(1, 3), fmpq(1, 2), fmpq(2, 3), ONE),
    **{steps: tuple(fmpq(k, steps - 1) for k in range(steps)) for steps in (7, 9, 13, 21, 61)},
    3: (ZERO, fmpq(1, 2), ONE),
    1: (),
}
"""Number of positions -> the probabilities of token 0 at them; every scale has its row's own added."""

Key = tuple[str, Prefix]
"""("q" or "p", prefix): a row of the proposal or of the target."""


def positions(row: Row, steps: int) -> list[Row]:
    """The row as its slider moves the probability of token 0 from 0 to 1, the row itself among them.

    The other tokens keep their proportions; where they have no mass they share it alike.

    >>> from draftproof.theory.numbers import exact
    >>> positions((exact("1/4"), exact("1/4"), exact("1/2")), 3)
    [(0, 1/3, 2/3), (1/4, 1/4, 1/2), (1/2, 1/6, 1/3), (1, 0, 0)]
    """
    if len(row) == 1:
        return [row]
    first, *others = row
    rest = sum(others, ZERO)
    spread = [mass / rest if rest else fmpq(1, len(others)) for mass in others]
    return [(t, *((ONE - t) * part for part in spread)) for t in sorted({first, *SCALES[steps]})]


def every_row(instance: Instance) -> dict[Key, Row]:
    """The rows that the law of one iteration depends on, proposal first, by prefix."""
    vocab, depth = instance.vocab, instance.draft.depth
    rows: dict[Key, Row] = {("q", prefix): instance.proposal[prefix] for prefix in prefixes(vocab, depth - 1)}
    return rows | {("p", prefix): instance.target[prefix] for prefix in prefixes(vocab, depth)}


def placed(instance: Instance, rows: dict[Key, Row]) -> Instance:
    """The instance with these rows in the place of its own."""
    tables: dict[str, dict[Prefix, Row]] = {"p": {}, "q": {}}
    for (which, prefix), row in (every_row(instance) | rows).items():
        tables[which][prefix] = row
    vocab = instance.vocab
    return Instance(Table(vocab, tables["p"]), Table(vocab, tables["q"]), instance.draft, instance.name)


def numbered(sizes: Sequence[int], index: int) -> list[int]:
    """The digits of `index` in mixed radix, the first the most significant.

    >>> numbered([2, 3], 5)
    [1, 2]
    """
    return [int(digit) for digit in np.unravel_index(index, tuple(sizes))]
