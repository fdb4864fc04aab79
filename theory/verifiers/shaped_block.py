"""Shaped block verification: block verification whose row at the leaf depends on how the text came there.

A call's E[tau] is block verification's. The next calls accept more: after a rejection the target's row at
the old block's end is drawn towards the proposal's, and the bonus token after a whole accepted draft takes
what that leaves. Reads the proposal's row at the leaf; without it the verifier is block verification.

>>> from draftproof.simulators.laws.decode import decode
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> decode(scenario("toy", Chain(1)), VERIFIER, 2).accepted
(2/3, 7/9)
"""

from itertools import pairwise

from draftproof.theory.rows import one, share
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.block import rejected
from draftproof.theory.verifiers.shared.leaf_shaping import carry, shaped


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """tau as in block verification; after the whole draft Y ~ the bonus row of `shaped`.

    Lossless only together with `carry`: after a rejection the row at the draft's end is shaped too.
    """
    *inner, leaf = draft.path
    k = one(target[leaf.prefix])
    w = [k]
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        k = k * share(q[x], w[-1] * p[x])
        w.append(share(w[-1] * p[x], q[x]))

    if oracle.accept(w.pop()):
        bonus, _ = shaped(k, target[leaf.prefix], leaf.proposal)
        return leaf, bonus
    return rejected(oracle, inner, w, target)


VERIFIER = Verifier(
    "shaped-block",
    "draftproof, docs/findings.md",
    CHAIN,
    lossless=True,
    verify=verify,
    carry=carry,
    reads_leaves=True,
    batched="gpu.verify.chains:SHAPED_BLOCK",
)
