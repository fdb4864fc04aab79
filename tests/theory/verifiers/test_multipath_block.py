from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.law import Law
from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.checks import assert_lossless, assert_same_law, block_optimum, drafts, mean_accepted
from tests.strategies import instances, rows, tables

MULTI, BLOCK = named("multipath-block"), named("block")


@given(instances("chain"))
def test_one_path_is_block_verification(instance):
    assert_same_law(instance, MULTI, BLOCK)
    alone = Instance(instance.target, instance.proposal, Paths(1, instance.draft.depth))
    assert_same_law(alone, MULTI, BLOCK)


@given(instances(Paths(3, 2), vocab=2))
def test_three_paths_are_lossless(instance):
    assert_lossless(instance, MULTI)


@given(tables(2, 2), tables(2, 1), st.integers(2, 3))
def test_it_is_block_verification_of_the_best_ranked_path(target, proposal, count):
    """E[tau] is the block optimum with the selected path's law, found by enumeration, in q's place."""
    instance = Instance(target, proposal, Paths(count, 2))
    law = selected(instance)
    rows = {}
    for prefix in ((), *law.marginal(1)):
        here, below = (law.marginal(len(prefix) + more) for more in (0, 1))
        rows[prefix] = tuple(below[(*prefix, x)] / here[prefix] for x in range(2))
    best = Instance(target, Table.exact(2, rows), Chain(2))
    assert mean_accepted(instance, MULTI) == block_optimum(best)


def selected(instance) -> Law:
    """The law of the path that goes, at every node, to the child of largest p/q, the smaller id first."""

    def best(draft):
        node = draft.root
        while node.children:
            p, q = instance.target[node.prefix], node.proposal
            node = max(node.children, key=lambda child: (p[child.token] / q[child.token], -child.token))
        return node.prefix

    return Law((best(draft), weight) for weight, draft in drafts(instance.draft, instance.proposal))


@given(rows(3), rows(3), st.integers(1, 4))
def test_the_selected_token_is_the_best_ranked_of_those_drawn(p, q, count):
    """At depth one its law is d(x) = (F + q(x))^K - F^K, F the mass ranked lower, and p meets d."""
    ranked_lower, accepted = ZERO, ZERO
    for x in sorted((x for x in (2, 1, 0) if q[x]), key=lambda x: p[x] / q[x]):
        d = (ranked_lower + q[x]) ** count - ranked_lower**count
        ranked_lower, accepted = ranked_lower + q[x], accepted + min(p[x], d)
    assert mean_accepted(context_free(p, q, Paths(count, 1)), MULTI) == accepted


def test_a_second_path_can_hurt():
    """Where p = q one path is always accepted; of two the best-ranked has a law of its own."""
    fair = ["1/2", "1/2"]
    assert mean_accepted(context_free(fair, fair, Paths(1, 1)), MULTI) == 1
    assert mean_accepted(context_free(fair, fair, Paths(2, 1)), MULTI) == exact("3/4")
