"""The priority rule, shaped at every leaf.

>>> from draftproof.simulators.laws.decode import decode
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> decode(scenario("toy", Tree(((), ()), True)), VERIFIER, 2).accepted
(8/9, 73/81)
"""

from draftproof.theory.drafts.shape import Shape
from draftproof.theory.rows import Number, Row, one
from draftproof.theory.verifier import Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import priority
from draftproof.theory.verifiers.shared import leaf_shaping
from draftproof.theory.verifiers.shared.leaf_shaping import Ways
from draftproof.theory.verifiers.shared.priority import token_by_token


def planned(a: Number, p: Row, q: Row, x: int, shape: Shape, replacement: bool) -> Ways:
    """Child j is x and is kept with the plan's mass."""
    plan = token_by_token(p, (q,) * len(shape))
    return ((plan.mass[x, j], one(p), child) for j, child in enumerate(shape) if (x, j) in plan.mass)


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The stop of the priority rule on the shaped target; at a leaf Y ~ the bonus row of `shaped`."""
    return leaf_shaping.judged(priority.verify, oracle, draft, target, planned)


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of the next call, shaped where the text can still come by a leaf's word."""
    return leaf_shaping.carry(target, proposal, draft, stop, planned)


VERIFIER = Verifier(
    "shaped-priority",
    "draftproof, docs/findings.md",
    ("tree with replacement",),
    lossless=True,
    verify=verify,
    carry=carry,
    ordered=True,
    reads_leaves=True,
)
