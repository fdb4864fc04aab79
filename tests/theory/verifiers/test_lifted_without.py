"""The priority rule on dependent siblings: exact without replacement and on K paths."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import instances, rows
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Row, excess, minimum, possible, ratio, share, total
from draftproof.theory.transport.single_step import alpha
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.lifted_without import by_sets
from tests.checks import assert_lossless, assert_same_law, is_lossy, mean_accepted

VERIFIER = named("lifted-without")


def second(t: Row, q: Row) -> Row:
    """How much of each token two siblings without replacement keep, in one pass over the sorted tokens: x and
    y are both drawn with q(x) q(y) (1 / (1 - q(x)) + 1 / (1 - q(y))), so that two sums over the tokens before
    x are enough. Every token has q < 1.
    """
    odds = [x / (1 - x) for x in q]
    both = sum(odds[1:], odds[0])
    pi = [x * (1 + both - part) for x, part in zip(q, odds, strict=True)]
    kept = [0 * x for x in t]
    masses, parts = 0 * both, 0 * both
    drafted = [x for x in range(len(q)) if possible(q[x])]
    for x in sorted(drafted, key=lambda x: ratio(t[x], pi[x]), reverse=True):
        reach = pi[x] - odds[x] * masses - q[x] * parts
        kept[x] = minimum(t[x], reach)
        rate = share(t[x], reach)
        masses, parts = masses + q[x] * rate, parts + odds[x] * rate
    return tuple(kept)


DRAFTS = [*map(Tree, (every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)))), Paths(2, 2), Paths(3, 2)]


@pytest.mark.parametrize("draft", DRAFTS, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(draft, data):
    assert_lossless(data.draw(instances(draft)), VERIFIER)


@given(instances("chain"))
def test_chains_are_verified_as_blocks(instance):
    assert_same_law(instance, VERIFIER, named("block"))


@given(rows(4), rows(4), st.integers(1, 4), st.booleans())
def test_a_node_accepts_no_more_than_alpha(p, q, count, replacement):
    assert ONE - total(by_sets(p, q, count, replacement).left) <= alpha(p, q, count, replacement)[0]


@given(rows(4), rows(4))
def test_two_siblings_need_one_pass(p, q):
    assume(max(q) < 1)
    assert excess(p, second(p, q)) == by_sets(p, q, 2, False).left


def test_it_accepts_more_than_traversal_and_less_than_alpha():
    instance = context_free(["5/8", "9/32", "3/32"], ["5/11", "5/11", "1/11"], Tree(((), ())))
    found = mean_accepted(instance, VERIFIER)
    assert mean_accepted(instance, named("traversal")) < found < alpha(*_rows(instance), 2, False)[0]


def _rows(instance):
    return instance.target[()], instance.proposal[()]


def test_independent_siblings_are_not_for_it():
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ()), True))
    assert is_lossy(instance, VERIFIER)
