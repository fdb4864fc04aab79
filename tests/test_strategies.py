"""What the strategies promise beyond their examples: they can make the edges, and only what is asked."""

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import supported
from draftproof.theory.verifier import ALL
from tests.problems import LOPSIDED
from tests.strategies import instances, rows, schemes, shapes


@pytest.mark.parametrize("label", ALL)
@given(data=st.data(), nodes=st.integers(1, 4), depth=st.integers(1, 3))
def test_schemes_have_the_label_and_the_depth_asked_for(label, data, nodes, depth):
    scheme = data.draw(schemes(label, nodes, depth))
    assert scheme.label == label
    assert 1 <= scheme.depth <= depth


def test_unknown_labels_are_refused():
    with pytest.raises(BadInput, match="no drafting scheme is labelled 'forest'"):
        schemes("forest")


@given(rows(3, zeros=False))
def test_zeros_can_be_left_out(row):
    assert min(row) > 0


@pytest.mark.parametrize("support", [1, 2, 3])
def test_rows_of_every_support_are_made(support):
    assert supported(find(rows(3), lambda row: supported(row) == support)) == support


@pytest.mark.parametrize("shape", [((),), ((), ()), (((),),), LOPSIDED, ((), ((), ()))])
def test_every_small_shape_is_made(shape):
    assert find(shapes(4, 2), lambda made: made == shape) == shape


@given(instances("chain", vocab=2, zeros=False))
def test_every_prefix_has_a_row_and_nothing_else_does(instance):
    depth = instance.draft.depth
    assert len(list(instance.target.given())) == 2 ** (depth + 1) - 1
    assert len(list(instance.proposal.given())) == 2**depth - 1


def test_some_proposals_are_the_target_itself():
    found = find(instances("chain", vocab=2), lambda each: each.proposal[()] == each.target[()])
    assert found.proposal[()] == found.target[()]
