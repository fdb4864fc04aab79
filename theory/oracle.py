"""The oracle answers the random choices of drafting schemes and verifiers.

Both are written once, as sampler programs over an oracle. The oracle takes every branch in turn
(enumeration), draws at random (Monte Carlo), or splits on signs (proofs).
"""

from typing import Protocol

from draftproof.theory.rows import Number, Row


class Oracle(Protocol):
    """Answers the random choices of a sampler program."""

    def choose(self, row: Row) -> int:
        """A token drawn from the row, which has mass 1."""
        ...

    def accept(self, probability: Number) -> bool:
        """True with the given probability: whether a uniform in [0, 1) is below it."""
        ...
