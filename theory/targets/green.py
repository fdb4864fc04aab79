"""Green lists: what a watermark that favours half of the tokens does to the law, on average over keys.

>>> from draftproof.simulators.laws.verdicts.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), GREEN.rule, GREEN)
>>> found.lossless, found.token.total_variation
(True, 1/120)
"""

from collections.abc import Sequence
from itertools import product

from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Row, add, normalise, scale
from draftproof.theory.targets.declared import Declared

MOST = 12
"""Largest vocabulary: there are 2^V lists."""


def favoured(row: Row, green: Sequence[int], factor: fmpq) -> Row:
    """The row with the weights of green tokens multiplied by the factor, exp(delta) of logits."""
    return normalise(tuple([mass * factor if bit else mass for mass, bit in zip(row, green, strict=True)]))


def average(p: Row, q: Row, factor: fmpq) -> Row:
    """The mean of the favoured rows over all lists. BadInput above MOST tokens."""
    if len(p) > MOST:
        raise BadInput(f"green lists are averaged over 2^V lists, V up to {MOST}")
    found = scale(0 * factor, p)
    for green in product((0, 1), repeat=len(p)):
        found = add(found, scale(factor**0 / 2 ** len(p), favoured(p, green, factor)))
    return found


GREEN = Declared("green", "kirchenbauer2023watermark, over keys", average, parameter=fmpq(2))
DECLARED = (GREEN,)
