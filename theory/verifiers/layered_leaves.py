"""Layered transport that reads the proposal's rows at leaves: a leaf's last token is split too.

A token may be a leaf in one draft and have children in another. What is emitted below it has to follow the
target only over both, so the leaf takes what the children are not expected to draft.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> from draftproof.theory.verifiers import named
>>> uneven = scenario("toy", Tree((((),), ())))
>>> [emission(uneven, named(name)).expected_accepted for name in ("layered", "layered-leaves")]
[14/9, 5/3]
"""

from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.layered import judged


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """As layered transport, with leaves in its split."""
    return judged(oracle, draft, target, leaves=True)


VERIFIER = Verifier(
    "layered-leaves",
    "draftproof, docs/findings.md",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
    reads_leaves=True,
)
