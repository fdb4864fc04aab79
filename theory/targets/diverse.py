"""A mixture whose weight depends on the context: pi = w p + (1 - w) q.

The released weight is a network of both models' hidden states. Whatever it is, it depends on the context
alone, which is all that losslessness for pi needs; here it is TV(p, q), more of the target where the models
disagree.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET)
>>> found.lossless, found.token.total_variation
(True, 2/9)
"""

from flint import fmpq

from draftproof.theory.rows import Row, add, meet, scale, total
from draftproof.theory.targets.declared import Declared


def row(p: Row, q: Row, parameter: fmpq) -> Row:
    """w p + (1 - w) q with w = TV(p, q)."""
    w = 1 - total(meet(p, q))
    return add(scale(w, p), scale(1 - w, q))


TARGET = Declared("diverse", "wang2026diversed, dynamic ensemble; the weight is a stand-in", row)
