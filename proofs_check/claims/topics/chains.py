"""Verifiers of one path: block verification (sun2025block) and HSD (zhou2026hsd)."""

from flint import fmpq

from draftproof.proofs_check.claims.checks import refuted_on
from draftproof.proofs_check.claims.claim import REFUTED, SIZES
from draftproof.proofs_check.claims.quantities import Quantity
from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.enumerate import iteration
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named


def _toy() -> str:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    found = [Quantity(name).on(toy) for name in ("token", "block", "greedy-block")]
    return SIZES if found == [fmpq(10, 9), fmpq(11, 9), fmpq(12, 9)] else REFUTED


ALL_EQUAL = context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(2))
"""p = q: all verifiers accept everything, at every depth."""


FALLING_AND_RISING = Instance(
    Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/5", "4/5"], (0, 0): ["4/5", "1/5"]}),
    Table.exact(2, {(): ["1/4", "3/4"], (0,): ["4/5", "1/5"], (0, 0): ["1/5", "4/5"]}),
    Chain(3),
)
"""Joint ratios 2, 1/2, 2 along 0 0 0: the last is above 1 again after one below 1."""


def _not_drawn_again(instance: Instance) -> bool:
    # Token 0 is never drawn again at the root.
    stops = iteration(instance.draft, instance.proposal, named("hsd-naive"), instance.target, start=fmpq(1))
    return not sum((weight * row[0] for weight, _, node, row in stops if node.prefix == ()), fmpq(0))


CHECKS = {
    "block-example": _toy,
    "hsd-naive-no-resampling": refuted_on(FALLING_AND_RISING, _not_drawn_again),
    "hsd-strictly-above": refuted_on(
        ALL_EQUAL, lambda equal: len({Quantity(name).on(equal) for name in ("hsd", "block", "token")}) > 1
    ),
    "typical-lossless": lambda: prove(named("typical"), Chain(1), 2).verdict,
}
