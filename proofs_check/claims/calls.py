"""What holds in one call of a verifier and not over several: the optima, and block verification's."""

from flint import fmpq

from draftproof.proofs_check.claims.checks import refuted_on
from draftproof.proofs_check.claims.claim import REFUTED, Claim
from draftproof.simulators.decode import decode
from draftproof.simulators.optimum import full_information
from draftproof.simulators.verdict import judge
from draftproof.theory.draft import Draft, Node, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.modified_target import Replaced
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row, add, excess, meet, minimum, scale, share, total
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import block, named, token


def all_but_the_last(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Block verification that does not look at the last drafted token: valid like itself."""
    *above, last = draft.path[:-1]
    return block.verify(oracle, Draft(chained(last.prefix, [node.proposal for node in above])), target)


SHORTER = Verifier("block of all but the last", "ours", CHAIN, lossless=True, verify=all_but_the_last)


def ahead_is_worse(depth: int = 7) -> Instance:
    """An instance on which keeping one token more costs more later than it gains now.

    The first `depth` tokens are 0 under p and q alike. At the next one q is sure of 0 and p(0) = 1/2.
    After 0 follows one token with p(0) = 1 and q(0) = 1/2, then p = q; after 1 q is sure of 1 and p of 0,
    so that nothing is accepted any more.
    """
    sure, half, never = ["1", "0"], ["1/2", "1/2"], ["0", "1"]
    at = (0,) * depth
    p = {(): sure, at: half, (*at, 0): sure}
    q = {(): sure, at: sure, (*at, 0): half}
    for n in range(2 * depth + 3):
        p[*at, 1, *(0,) * n] = sure
        q[*at, 1, *(0,) * n] = never
        p[*at, 0, 0, *(0,) * n] = q[*at, 0, 0, *(0,) * n] = sure
    return Instance(Table.exact(2, p), Table.exact(2, q), Chain(depth))


def leaf_shaping(proposal: Rows) -> Verifier:
    """Token verification of one drafted token that remembers whether the token was drafted.

    The target's mass P of token z is K = min(P, Q) by an accepted draft and P - K by a residual. After
    both, what follows must have the row p(.|z) on average, and no more: the residual goes on with a row
    near q(.|z), of which the next call accepts more, and the bonus token is drawn from what that leaves.
    """

    def rows_after(z: Prefix, P: Number, Q: Number, p: Row) -> tuple[Row, Row]:
        # The bonus row, and the target row of the call that starts after the residual's z.
        K, q = minimum(P, Q), proposal[z]
        if P - K == 0:
            return p, p
        cap = scale(P / (P - K), p)
        drafted, room = meet(q, cap), excess(cap, q)
        later = add(drafted, scale(share(1 - total(drafted), total(room)), room))
        return (excess(scale(P / K, p), scale((P - K) / K, later)) if K > 0 else p), later

    def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        stop, row = token.verify(oracle, draft, target)
        root, leaf = draft.path
        if stop is leaf:
            P, Q = target[root.prefix][leaf.token], root.proposal[leaf.token]
            row, _ = rows_after(leaf.prefix, P, Q, row)
        return stop, row

    def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
        root, _ = draft.path
        if stop is not root:
            return target
        p, q = target[root.prefix], root.proposal
        after = [(*root.prefix, x) for x in range(len(p))]
        return Replaced(target, {z: rows_after(z, p[z[-1]], q[z[-1]], target[z])[1] for z in after})

    return Verifier("leaf shaping", "ours", CHAIN, lossless=True, verify=verify, carry=carry)


TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))


def emitted(instance: Instance, rule: Verifier, calls: int) -> fmpq:
    """The mean number of tokens that come out of some calls: accepted ones, and one more a call."""
    return calls + sum(decode(instance, rule, calls).accepted, fmpq(0))


def _bounded(instance: Instance) -> bool:
    # Undecided, like a statement that holds, if the witness is not lossless.
    rule = leaf_shaping(instance.proposal)
    lossless = all(judge(instance, rule, calls).lossless for calls in (1, 2, 3))
    return not lossless or emitted(instance, rule, 2) <= 2 * (1 + full_information(instance).value)


def _decodes_most(instance: Instance) -> bool:
    return emitted(instance, named("block"), 2) >= emitted(instance, SHORTER, 2)


CLAIMS = (
    Claim(
        "full-information-over-calls",
        "Over two calls no lossless verifier emits more tokens than twice full information allows in one.",
        "open; beside sun2025block, greedy block verification (appendix)",
        "two calls, a chain of 1, V = 2",
        refuted_on(TOY, _bounded),
        REFUTED,
        note="p = (1/3, 2/3), q = (2/3, 1/3) everywhere: a rule that remembers whether its token was drafted "
        "emits 31/9, twice the optimum is 10/3 (leaf_shaping in proofs_check/claims/calls.py). In the first "
        "call the statement holds (greedy-mean)",
    ),
    Claim(
        "block-optimal-over-iterations",
        "Over two calls no valid verifier of one path emits more tokens than block verification.",
        "open; beside sun2025block, Theorem 2",
        "two calls, a chain of 7, V = 2",
        refuted_on(ahead_is_worse(), _decodes_most),
        REFUTED,
        note="without the last drafted token it emits 11, with it 43/4: a token ahead can "
        "cost more than a token later (ahead_is_worse in proofs_check/claims/calls.py). Over three and four "
        "calls block verification is ahead there, 61/4 : 15 and 79/4 : 19. In one call the statement holds "
        "(block-optimal)",
    ),
)
