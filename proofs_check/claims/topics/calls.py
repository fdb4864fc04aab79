"""What holds in one call of a verifier and not over several: the optima, and block verification's."""

from flint import fmpq

from draftproof.proofs_check.claims.checks import refuted_on
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.optimum import full_information
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.draft import Draft, Node, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, excess, normalise, scale, share
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import block, named
from draftproof.theory.verifiers.shared.modified_target import Replaced


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


def shaped(p: Row, q: Row, x: int, after: Row) -> tuple[Row, Row]:
    """(bonus, later): the row after x where it was drafted and accepted, which of x's mass p(x) has the share
    k = min(1, q(x) / p(x)), and where it came in another way. k bonus + (1 - k) later = `after`, and later is
    near q.
    """
    k = share(q[x], p[x])
    bonus = normalise(excess(after, scale(1 - k, q)))
    rest = excess(after, scale(k, bonus))
    return bonus, normalise(rest) if k < 1 else after


def remembering(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Token verification of one drafted token, where q is the same everywhere; after it `shaped`'s bonus row.
    Lossless together with `remembered`.
    """
    root, leaf = draft.path
    node, row = block.verify(oracle, draft, target)
    if node is root:
        return node, row
    return leaf, shaped(target[root.prefix], root.proposal, leaf.prefix[-1], target[leaf.prefix])[0]


def remembered(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """After a rejection, the target with `shaped`'s later rows."""
    base = target.target if isinstance(target, Replaced) else target
    if stop is not draft.root:
        return base
    p, q, at = target[stop.prefix], proposal[stop.prefix], stop.prefix
    return Replaced(base, {(*at, x): shaped(p, q, x, base[*at, x])[1] for x in range(base.vocab)})


REMEMBERING = Verifier("token, one row remembered", "ours", CHAIN, True, remembering, remembered)
TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))


def emitted(instance: Instance, rule: Verifier, calls: int) -> fmpq:
    """The mean number of tokens that come out of some calls: accepted ones, and one more a call."""
    return calls + sum(decode(instance, rule, calls).accepted, fmpq(0))


def _bounded(instance: Instance) -> bool:
    # Undecided, like a statement that holds, if the witness is not lossless.
    lossless = all(judge(instance, REMEMBERING, calls).lossless for calls in (1, 2, 3))
    return not lossless or emitted(instance, REMEMBERING, 2) <= 2 * (1 + full_information(instance).value)


CHECKS = {
    "full-information-over-calls": refuted_on(TOY, _bounded),
    "block-optimal-over-iterations": refuted_on(
        ahead_is_worse(), lambda given: emitted(given, named("block"), 2) >= emitted(given, SHORTER, 2)
    ),
}
