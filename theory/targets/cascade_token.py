"""A speculative cascade by token: what the target finds likely enough is left to the drafter.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET)
>>> found.lossless, found.token.total_variation
(True, 1/9)
"""

from flint import fmpq

from draftproof.theory.rows import Row, add, point, scale
from draftproof.theory.targets.declared import Declared


def row(p: Row, q: Row, a: fmpq) -> Row:
    """q on the tokens with p >= (1 - a) max p, and the drafter's mass on all others spread by p."""
    least = (1 - a) * max(p)
    found, left = scale(0 * a, q), 0 * a
    for x in range(len(p)):
        if p[x] < least:
            left = left + q[x]
        else:
            found = add(found, scale(q[x], point(x, p)))
    return add(found, scale(left, p))


TARGET = Declared(
    "cascade-token",
    "narasimhan2025faster, token-specific rule V3",
    row,
    parameter=fmpq(1, 4),
    most=fmpq(1),
    ordered=True,
)
