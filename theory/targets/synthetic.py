"""Synthetic acceptance: tokens are accepted at a given rate, whatever they are. For benchmarks of speed.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> found = judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET)
>>> found.expected_accepted, found.token.total_variation
(119/100, 2/15)
"""

from flint import fmpq

from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import excess, normalise, otherwise
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Draft, Stop


def verify(rate: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept every drafted token with the same probability; at the first rejection Y ~ norm((p - q)+)."""
    *inner, leaf = draft.path
    for node in inner:
        if not oracle.accept(rate):
            p = target[node.prefix]
            return node, normalise(otherwise(excess(p, node.proposal), p))
    return leaf, target[leaf.prefix]


TARGET = Declared(
    "synthetic",
    "kwon2023vllm, rejection_sample_method synthetic",
    verify=verify,
    parameter=fmpq(7, 10),
    most=fmpq(1),
)
