"""Greedy block verification: uncapped ratios, and a modified target for the tokens that follow.

>>> from draftproof.simulators.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
4/3
"""

from itertools import pairwise

from draftproof.theory.rows import Number, Prefix, Row, excess, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """With P_i, Q_i the joint target and proposal probabilities of X^i (P_i / Q_i = R_i):

    D+_i = sum (P_i p - Q_i q)+;  D-_i = sum (Q_i q - P_i p)+;  h_i = min(1, D+_i / D-_i),
    h_gamma = min(1, R_gamma);  Y ~ norm((P_tau p - Q_tau q)+) below the leaf.
    Lossless only together with `carry`: the next gamma - tau - 1 tokens have a modified target.
    """
    *inner, leaf = draft.path
    P = Q = one(target[leaf.prefix])
    joint = []
    for node, child in pairwise(draft.path):
        joint.append((P, Q))
        P, Q = P * target[node.prefix][child.token], Q * node.proposal[child.token]

    if oracle.accept(share(P, Q)):
        return leaf, target[leaf.prefix]
    for node, (P, Q) in zip(reversed(inner), reversed(joint), strict=True):
        have, want = scale(Q, node.proposal), scale(P, target[node.prefix])
        residual = excess(want, have)
        if oracle.accept(share(total(residual), total(excess(have, want)))):
            break
    return node, normalise(residual)


class Modified:
    """The target for the tokens that a stopped block still owes (sun2025block, Appendix).

    At a context z, from the block's start at length `start` up to length `end`, the row is
    norm((P p(.|z) - Q q(.|z))+) with P, Q the joint probabilities of the block's tokens in z
    under `target` and `proposal`. Elsewhere it is the target's own. Layers stack: `target` may
    itself be modified, and its rows, as modified, make up P.
    """

    __slots__ = ("_key", "_rows", "end", "proposal", "start", "target")

    def __init__(self, target: Rows, proposal: Rows, start: int, end: int):
        self.target, self.proposal, self.start, self.end = target, proposal, start, end
        self._rows: dict[Prefix, Row] = {}
        self._key = (target, id(proposal), start, end)

    @property
    def vocab(self) -> int:
        return self.target.vocab

    def __getitem__(self, prefix: Prefix) -> Row:
        if not self.start < len(prefix) < self.end:
            return self.target[prefix]
        if prefix not in self._rows:
            P, Q = self._joint(prefix)
            want, have = scale(P, self.target[prefix]), scale(Q, self.proposal[prefix])
            self._rows[prefix] = normalise(excess(want, have))
        return self._rows[prefix]

    def _joint(self, prefix: Prefix) -> tuple[Number, Number]:
        P = Q = one(self.target[prefix])
        for i in range(self.start, len(prefix)):
            P = P * self.target[prefix[:i]][prefix[i]]
            Q = Q * self.proposal[prefix[:i]][prefix[i]]
        return P, Q

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modified) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of the next iteration after a block that stopped at `stop`.

    The extra token is at depth tau + 1, so rows at depths tau + 1 to gamma - 1 are modified; none
    are when tau >= gamma - 1.
    """
    start = len(draft.root.prefix)
    end = len(draft.path[-1].prefix)
    return Modified(target, proposal, start, end) if len(stop.prefix) + 1 < end else target


VERIFIER = Verifier(
    "greedy-block",
    "sun2025block, greedy block verification (appendix)",
    CHAIN,
    lossless=True,
    verify=verify,
    carry=carry,
)
