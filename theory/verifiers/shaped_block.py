"""Shaped block verification: block verification whose row at the leaf depends on how the text came there.

A call's E[tau] is block verification's. The next calls accept more: after a rejection the target's row at
the old block's end is drawn towards the proposal's, and the bonus token after a whole accepted draft takes
what that leaves. Reads the proposal's row at the leaf; without it the verifier is block verification.

>>> from draftproof.simulators.decode import decode
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> decode(scenario("toy", Chain(1)), VERIFIER, 2).accepted
(2/3, 7/9)
"""

from itertools import pairwise

from draftproof.theory.leaf_shaping import Shaped, shaped
from draftproof.theory.rows import one, share
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.block import verify as block_verification


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """tau as in block verification; after the whole draft Y ~ the bonus row of `shaped`."""
    stop, row = block_verification(oracle, draft, target)
    *_, leaf = draft.path
    if stop is not leaf or leaf.proposal is None:
        return stop, row
    P = Q = w = one(row)
    for node, child in pairwise(draft.path):
        p, q = target[node.prefix][child.token], node.proposal[child.token]
        P, Q, w = P * p, Q * q, share(w * p, q)
    bonus, _ = shaped(P, Q, w, row, leaf.proposal)
    return leaf, bonus


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """After a rejection the target's row at the draft's end is shaped; a whole accepted draft ends all that
    earlier calls left behind."""
    root, *_, leaf = draft.path
    if stop is leaf:
        while isinstance(target, Shaped):
            target = target.target
        return target
    return Shaped(target, proposal, len(root.prefix), len(leaf.prefix))


VERIFIER = Verifier(
    "shaped-block",
    "draftproof, docs/shaped-block.md",
    CHAIN,
    lossless=True,
    verify=verify,
    carry=carry,
    reads_leaves=True,
)
