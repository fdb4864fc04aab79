"""A fixed mixture of target and drafter: pi = (1 - a) p + a q.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET)
>>> found.lossless, found.token.total_variation, found.expected_accepted
(True, 1/12, 21/16)
"""

from flint import fmpq

from draftproof.theory.rows import Row, add, meet, scale, total
from draftproof.theory.targets.declared import TOTAL_VARIATION, Budget, Declared


def row(p: Row, q: Row, a: fmpq) -> Row:
    """(1 - a) p + a q."""
    return add(scale(1 - a, p), scale(a, q))


def bound(p: Row, q: Row, a: fmpq) -> fmpq:
    """a TV(p, q)."""
    return a * (1 - total(meet(p, q)))


TARGET = Declared(
    "interpolation",
    "wang2026diversed, static ensemble",
    row,
    parameter=fmpq(1, 4),
    most=fmpq(1),
    budget=Budget(TOTAL_VARIATION, bound, kept=True),
)
