"""What a simpler rule can cost at most (docs/prices.md)."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from draftproof.proofs_check.claims.claim import UNDECIDED
from draftproof.proofs_check.claims.every_size import Stated
from draftproof.proofs_check.claims.quantities import Quantity
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from draftproof.theory.transport.prices import token_against_block

AT_MOST = {2: "1.1548", 3: "1.2858", 4: "1.4016", 5: "1.5094", 6: "1.6153", 7: "1.7181", 8: "1.8191"}
"""gamma -> what (1 + E[tau] of block) / (1 + E[tau] of token) never exceeds."""


@dataclass(frozen=True)
class Priced(Stated):
    """What token and block verification keep is proved from their code, and `holds` decides numbers; the rest
    is the written proof.
    """

    keeps: tuple[str, ...] = ("token", "block")
    holds: Callable[[], bool] = lambda: True

    def __call__(self) -> str:
        return super().__call__() if self.holds() else UNDECIDED


def dropped(e: fmpq, gamma: int) -> Instance:
    """A token that is always drafted and has probability e; then, with probability e, the token that the
    target is sure of; then p = q.
    """
    sure, same = (fmpq(1), fmpq(0)), {(0,) + (1,) * n: (fmpq(0), fmpq(1)) for n in range(1, gamma - 1)}
    target = {(): (e, 1 - e), (0,): sure[::-1], **same}
    return Instance(Table(2, target), Table(2, {(): sure, (0,): (1 - e, e), **same}), Chain(gamma))


def _within() -> bool:
    return all(token_against_block(gamma) <= exact(most) for gamma, most in AT_MOST.items())


def _up_to_gamma() -> bool:
    e = fmpq(1, 1000)
    for gamma in (2, 3, 4):
        block, token = (Quantity(name).on(dropped(e, gamma)) for name in ("block", "token"))
        if block / token != gamma / (1 + (gamma - 1) * e):
            return False
    return True


CHECKS = {"token-price": Priced(holds=_within), "token-price-accepted": Priced(holds=_up_to_gamma)}
