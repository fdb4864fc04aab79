"""What a simpler rule can cost at most (docs/prices.md)."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.checks import WITH, Mean, Related, chains, mean_on, means
from draftproof.proofs_check.claims.claim import UNDECIDED
from draftproof.proofs_check.claims.every_size import Stated
from draftproof.proofs_check.claims.single_step import prefixes, row
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact
from draftproof.theory.oracle import Oracle
from draftproof.theory.table import Table
from draftproof.theory.transport.prices import token_against_block
from draftproof.theory.verifiers import named

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


def times(factor: fmpq, name: str, bonus: int = 1) -> Callable[[Scheme], Mean]:
    """A multiple of the tokens of a call, bonus + E[tau]."""

    def of(scheme: Scheme) -> Mean:
        def mean(domain: Domain, oracle: Oracle) -> Symbol:
            node, _ = named(name).verify(oracle, draw(scheme, oracle, domain.proposal), domain.target)
            return domain.number(factor * (bonus + len(node.prefix)))

        return mean

    return of


def two_tokens(factor: fmpq, bonus: int = 1, rule: str = "token", against: str = "block") -> Related:
    """With two drafted tokens a rule's tokens, so many times as many, are never below another's."""
    return Related("never below", times(factor, rule, bonus), times(fmpq(1), against, bonus), *chains(2, 2))


def siblings(share: fmpq) -> Related:
    """Recursive rejection of two i.i.d. siblings, at least this share of alpha*."""
    best = row(lambda p, q: share * prefixes(True)(p, q))
    return Related("never below", means("specinfer"), best, (2, WITH), (3, WITH))


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
        block, token = (mean_on(dropped(e, gamma), name) for name in ("block", "token"))
        if block / token != gamma / (1 + (gamma - 1) * e):
            return False
    return True


CHECKS = {
    "token-price-two": two_tokens(fmpq(97, 84)),
    "block-price-two": two_tokens(fmpq(97, 84), rule="block", against="greedy-block"),
    "token-price": Priced(holds=_within),
    "token-price-accepted": Priced(holds=_up_to_gamma),
    "recursive-price-two": siblings(fmpq(23, 27)),
}
