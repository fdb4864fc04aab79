"""Recursive rejection, shaped at every leaf.

>>> from draftproof.simulators.laws.decode import decode
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> decode(scenario("toy", Tree((((),), ()), False)), VERIFIER, 2).accepted
(14/9, 128/81)
"""

from draftproof.theory.verifier import TREES, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import rrs, specinfer
from draftproof.theory.verifiers.shared import leaf_shaping
from draftproof.theory.verifiers.shared.leaf_shaping import RECURSIVE


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The stop of recursive rejection on the shaped target; at a leaf Y ~ the bonus row of `shaped`."""
    rule = specinfer.verify if draft.replacement else rrs.verify
    return leaf_shaping.judged(rule, oracle, draft, target, RECURSIVE)


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of the next call, shaped where the text can still come by a leaf's word."""
    return leaf_shaping.carry(target, proposal, draft, stop, RECURSIVE)


VERIFIER = Verifier(
    "shaped-recursive",
    "draftproof, docs/findings.md",
    TREES,
    lossless=True,
    verify=verify,
    carry=carry,
    reads_leaves=True,
)
