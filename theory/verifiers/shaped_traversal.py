"""Traversal Verification, shaped at every leaf: on a chain it is shaped block verification.

>>> from draftproof.simulators.laws.decode import decode
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> decode(scenario("toy", Tree(((), ()), True)), VERIFIER, 2).accepted
(7/9, 67/81)
"""

from draftproof.theory.verifier import TREES, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import traversal
from draftproof.theory.verifiers.shared import leaf_shaping
from draftproof.theory.verifiers.shared.leaf_shaping import carry


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The stop of traversal on the shaped target; at a leaf Y ~ the bonus row of `shaped`.

    Lossless only together with `carry`.
    """
    return leaf_shaping.judged(traversal.verify, oracle, draft, target)


VERIFIER = Verifier(
    "shaped-traversal",
    "draftproof, docs/findings.md",
    TREES,
    lossless=True,
    verify=verify,
    carry=carry,
    reads_leaves=True,
)
