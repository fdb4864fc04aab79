"""Traversal Verification, against the example of its paper step by step."""

from hypothesis import given

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.law import Law
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.checks import assert_same_law, mean_accepted, stops
from tests.strategies import instances

TRAVERSAL = named("traversal")
A, B, C = range(3)
P = tuple(map(exact, ("3/10", "4/10", "3/10")))
Q = tuple(map(exact, ("6/10", "3/10", "1/10")))
PAIR = ((), ())


class Rejecting:
    """Rejects whatever can be rejected, and notes the probabilities it was asked."""

    def __init__(self):
        self.asked = []

    def accept(self, probability):
        self.asked.append(probability)
        return probability == 1


def example() -> Draft:
    x3, x4, x5 = (Node(prefix, Q) for prefix in ((A, B), (A, C), (C, A)))
    x1, x2 = Node((A,), Q, (x3, x4)), Node((C,), Q, (x5,))
    return Draft(Node((), Q, (x1, x2)), replacement=False)


def test_the_papers_example_step_by_step():
    oracle, draft = Rejecting(), example()
    stop, row = TRAVERSAL.verify(oracle, draft, Table.exact(3, {(): P}))
    x3, x4, x1, x5 = map(exact, ("2/3", "7/11", "0", "1/2"))
    assert oracle.asked == [x3, x4, x1, x5, 1]  # X2 has rate 1 and cannot be rejected
    assert stop is draft.root.children[1]
    # Below X2 its child a was rejected: norm((p - q)+) is what is left.
    assert row == tuple(map(exact, ("0", "1/3", "2/3")))


def test_the_papers_example_up_to_its_first_rejection():
    """a(X1) = 1/2 before anything is rejected, and 1/11 once X3 is, with X3 alone below it."""
    draft = example()
    x1 = draft.root.children[0]
    for below, rate in (((), "1/2"), (x1.children[:1], "1/11")):
        oracle = Rejecting()
        TRAVERSAL.verify(oracle, Draft(Node((), Q, (Node((A,), Q, below),))), Table.exact(3, {(): P}))
        assert oracle.asked[len(below)] == exact(rate)


@given(instances("chain"))
def test_on_a_chain_it_is_block_verification(instance):
    assert_same_law(instance, TRAVERSAL, named("block"))


@given(instances(Chain(3), vocab=2))
def test_on_a_longer_chain_too(instance):
    assert_same_law(instance, TRAVERSAL, named("block"))


@given(instances(Tree(((), (), ()), replacement=False)))
def test_at_depth_one_without_replacement_it_is_recursive_rejection(instance):
    assert_same_law(instance, TRAVERSAL, named("rrs"))


@given(instances(Tree(((), (), ()), replacement=True)))
def test_at_depth_one_with_replacement_it_is_recursive_rejection(instance):
    assert_same_law(instance, TRAVERSAL, named("specinfer"))


@given(instances(Tree((PAIR, ()), replacement=False)))
def test_a_first_subtree_is_accepted_at_its_rate_whatever_its_shape(instance):
    """A subtree at x is accepted with probability exactly a(x): min(1, p/q) for the first child."""
    assert_first_subtree_at_its_rate(instance)


@given(instances("tree with replacement"))
def test_with_replacement_too(instance):
    assert_first_subtree_at_its_rate(instance)


def assert_first_subtree_at_its_rate(instance):
    p, q = instance.target[()], instance.proposal[()]
    inside = Law(
        ((node.prefix[0],), weight)
        for weight, draft, node, _ in stops(instance, TRAVERSAL)
        if node.prefix and under(draft.root.children[0], node)
    )
    assert all(inside[(x,)] == min(p[x], q[x]) for x in range(instance.vocab))


def under(top: Node, node: Node) -> bool:
    return node is top or any(under(child, node) for child in top.children)


@given(instances(Tree((PAIR, PAIR), replacement=False), vocab=2))
def test_more_is_drafted_more_is_accepted(instance):
    smaller = Tree((PAIR, ()), replacement=False)
    fewer = type(instance)(instance.target, instance.proposal, smaller)
    assert mean_accepted(fewer, TRAVERSAL) <= mean_accepted(instance, TRAVERSAL)
