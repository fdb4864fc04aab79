import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import descending, has_mass, without
from draftproof.theory.table import Table
from tests.checks import assert_one_line, bracketed, children, drawn
from tests.strategies import rows, tables


@given(rows(4))
def test_pairs_are_a_sample_and_the_hub(q):
    hub = descending(q)[0]
    beside = without(q, hub)
    wanted = {(x, hub): q[x] for x in range(4) if x != hub}
    if has_mass(beside):
        wanted |= {(hub, x): q[hub] * beside[x] for x in range(4) if x != hub}
    else:
        wanted |= {(hub,): ONE}
    assert drawn(SpecHub(1), Table.exact(4, {(): q}), children) == Law(wanted)


@given(rows(4))
def test_the_first_child_follows_q(q):
    law = drawn(SpecHub(1), Table.exact(4, {(): q}), children)
    assert law.marginal(1) == Law({(x,): mass for x, mass in enumerate(q)})


@given(rows(4))
def test_unordered_pairs_are_those_of_the_greedy_draft(q):
    proposal = Table.exact(4, {(): q})
    hub, pair = drawn(SpecHub(1), proposal, children), drawn(Greedy(every(2, 1)), proposal, children)
    assert hub.map(lambda word: tuple(sorted(word))) == pair.map(lambda word: tuple(sorted(word)))


@given(tables(3, 1))
def test_the_whole_tree_is_the_greedy_one_in_another_order(proposal):
    def unordered(draft):
        root = draft.root
        return tuple(sorted(grandchild.prefix for child in root.children for grandchild in child.children))

    def tokens(draft):
        return tuple(x for prefix in unordered(draft) for x in prefix)

    assert drawn(SpecHub(2), proposal, tokens) == drawn(Greedy(every(2, 2)), proposal, tokens)


def test_ties_for_the_hub_go_to_the_smaller_id():
    law = drawn(SpecHub(1), Table.exact(3, {(): [0, "1/2", "1/2"]}), children)
    assert law == Law({(1, 2): exact("1/2"), (2, 1): exact("1/2")})
    law = drawn(SpecHub(1), Table.exact(3, {(): ["1/3"] * 3}), children)
    assert all(0 in pair for pair in law)


def test_where_only_the_hub_can_be_drawn_it_stands_alone():
    law = drawn(SpecHub(2), Table.exact(3, {(): [0, 1, 0]}), bracketed)
    assert law == Law({(1, 1, -1, -1, -1): ONE})


@pytest.mark.parametrize("depth", [0, 13, True, "1", None, 1.0])
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(BadInput) as caught:
        SpecHub(depth)
    assert_one_line(caught.value, "depth must be a whole number from 1 to 12")


@given(st.integers(1, 12))
def test_depths_up_to_twelve_are_taken(depth):
    assert SpecHub(depth).outcomes(1) == 1
