"""A speculative cascade: the drafter's row, unless the target is surer by more than the models differ.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET)
>>> found.lossless, found.token.total_variation
(True, 1/3)
"""

from flint import fmpq

from draftproof.theory.rows import Row, meet, total
from draftproof.theory.targets.declared import Declared


def row(p: Row, q: Row, a: fmpq) -> Row:
    """p where max q < max p - a TV(p, q), else q."""
    return p if max(q) < max(p) - a * (1 - total(meet(p, q))) else q


TARGET = Declared(
    "cascade-opt",
    "narasimhan2025faster, deferral rule OPT",
    row,
    parameter=fmpq(1, 4),
    ordered=True,
)
