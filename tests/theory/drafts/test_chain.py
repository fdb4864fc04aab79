import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import DEPTH
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law, law_of
from tests.checks import assert_one_line, drafts, drawn
from tests.strategies import tables


def leaf(draft: Draft):
    return draft.path[-1].prefix


@given(tables(2, 2), st.integers(1, 3))
def test_a_chain_follows_the_proposal(proposal, depth):
    assert drawn(Chain(depth), proposal, leaf) == law_of(proposal, depth)


@given(tables(2, 2), st.sampled_from([(), (0,), (1,), (0, 1)]))
def test_a_chain_goes_on_from_its_context(proposal, context):
    later = drafts(Chain(2), proposal, context)
    words = Law((leaf(draft)[len(context) :], weight) for weight, draft in later)
    assert words == law_of(proposal, 2, context)


@given(tables(2, 1), st.integers(1, 3))
def test_a_chain_has_one_path(proposal, depth):
    for _, draft in drafts(Chain(depth), proposal):
        assert draft.paths == (draft.path,)
        assert [len(node.children) for node in draft.path] == [1] * depth + [0]


@pytest.mark.parametrize("depth", [0, -1, DEPTH + 1, 10**500, True, False, 2.0, "2", None, [2]])
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(BadInput) as caught:
        Chain(depth)
    assert_one_line(caught.value, "depth must be a whole number from 1 to 256")


def test_the_deepest_chain_is_taken():
    assert Chain(DEPTH).outcomes(1) == 1
