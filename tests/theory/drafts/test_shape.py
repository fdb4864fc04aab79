import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import DEPTH, NODES, checked_shape, every, inner, measure, smaller_shapes
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from tests.checks import assert_one_line
from tests.strategies import shapes


def listed(shape):
    return [listed(child) for child in shape]


def nested(depth):
    shape = []
    for _ in range(depth):
        shape = [shape]
    return shape


@given(shapes(6, depth=4))
def test_lists_and_tuples_are_the_same_shape(shape):
    assert checked_shape(shape) == checked_shape(listed(shape)) == shape


@given(st.integers(1, 3), st.integers(1, 4))
def test_regular_shapes(children, depth):
    shape = every(children, depth)
    assert measure(shape) == depth
    assert set(inner(shape)) == {children}
    assert sum(inner(shape)) == sum(children**level for level in range(1, depth + 1))
    assert every(1, 2) == (((),),)


@given(shapes(6, depth=4))
def test_each_step_smaller_takes_one_leaf_away(shape):
    smaller = list(smaller_shapes(shape))
    assert all(sum(inner(each)) == sum(inner(shape)) - 1 for each in smaller)
    assert all(checked_shape(each) == each for each in smaller)
    assert bool(smaller) == (shape != every(1, 1))


WRONG = {
    "a bare leaf": ([], "no drafted token"),
    "a word": ("tree", "lists all the way down"),
    "a number": (2, "lists all the way down"),
    "nothing": (None, "lists all the way down"),
    "a number inside": ([[], [[], 0]], "lists all the way down"),
    "an object inside": ([[{}]], "lists all the way down"),
    "too deep": (nested(DEPTH + 1), "deeper than 256"),
    "far too deep": (nested(100_000), "deeper than 256"),
    "too wide": ([[]] * (NODES + 1), "more than 4096 nodes"),
}


@pytest.mark.parametrize("scheme", [Tree, TopK, Greedy])
@pytest.mark.parametrize(("shape", "fault"), WRONG.values(), ids=WRONG)
def test_what_is_no_shape_is_refused(scheme, shape, fault):
    with pytest.raises(BadInput) as caught:
        scheme(shape)
    assert_one_line(caught.value, fault)


def test_the_largest_shapes_are_taken():
    assert Tree(nested(DEPTH)).depth == DEPTH
    assert sum(inner(TopK([[]] * NODES).shape)) == NODES
