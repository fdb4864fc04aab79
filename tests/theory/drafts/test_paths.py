from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law, law_of
from draftproof.theory.rows import without
from draftproof.theory.table import Table
from tests.checks import assert_one_line, bracketed, children, drafts, drawn
from tests.strategies import rows, tables


def all_leaves(draft: Draft):
    return tuple(x for path in draft.paths for x in path[-1].prefix)


@given(tables(2, 1), st.integers(1, 3), st.integers(1, 2))
def test_paths_are_independent_chains(proposal, count, depth):
    alone = law_of(proposal, depth)
    together = Law({(): alone.total})
    for _ in range(count):
        together = Law((a + b, m * n) for a, m in together.items() for b, n in alone.items())
    assert drawn(Paths(count, depth), proposal, all_leaves) == together


@given(tables(2, 1), st.integers(1, 3), st.integers(1, 2))
def test_all_paths_are_kept_and_run_through_the_merged_tree(proposal, count, depth):
    for _, draft in drafts(Paths(count, depth), proposal):
        assert len(draft.paths) == count
        assert not draft.replacement
        for path in draft.paths:
            assert path[0] is draft.root
            assert all(below in above.children for above, below in pairwise(path))


@given(tables(2, 1), st.integers(1, 3), st.integers(1, 2))
def test_merged_children_stand_in_order_of_first_appearance(proposal, count, depth):
    for _, draft in drafts(Paths(count, depth), proposal):
        merged: dict = {}
        for path in draft.paths:
            for above, below in pairwise(path):
                merged.setdefault(above.prefix, {}).setdefault(below.prefix)
        for path in draft.paths:
            for node in path:
                assert [child.prefix for child in node.children] == list(merged.get(node.prefix, {}))


@given(rows(3), st.integers(1, 4))
def test_each_further_child_is_drawn_without_replacement(q, count):
    """Given the children so far and that there is one more, it follows q without them."""
    law = drawn(Paths(count, 1), Table.exact(3, {(): q}), children)
    assert_without_replacement(law, q)


@given(tables(2, 1), st.sampled_from([0, 1]))
def test_below_the_root_too(proposal, token):
    def below(draft: Draft):
        node = draft.root.child(token)
        return () if node is None else tuple(child.token for child in node.children)

    assert_without_replacement(drawn(Paths(3, 2), proposal, below), proposal[(token,)])


def assert_without_replacement(law, q):
    for first in {word[:i] for word in law for i in range(len(word))}:
        left = q
        for x in first:
            left = without(left, x)
        more = Law((word[: len(first) + 1], mass) for word, mass in law.items() if _goes_on(word, first))
        assert all(more[(*first, x)] == more.total * share for x, share in enumerate(left))


def _goes_on(word, first):
    return len(word) > len(first) and word[: len(first)] == first


@given(tables(2, 2), st.integers(1, 3))
def test_one_path_is_a_chain(proposal, depth):
    assert drawn(Paths(1, depth), proposal, bracketed) == drawn(Chain(depth), proposal, bracketed)


def test_equal_paths_merge_into_one():
    [(weight, draft)] = drafts(Paths(3, 2), Table.exact(2, {(): [0, 1]}))
    assert weight == 1
    assert draft.paths == (draft.path,) * 3
    assert bracketed(draft) == (1, 1, -1, -1, -1)


@pytest.mark.parametrize(
    ("count", "depth", "fault"),
    [
        (0, 1, "count must be a whole number from 1 to 64"),
        (65, 1, "count must be a whole number from 1 to 64"),
        (True, 1, "count must be"),
        (2, 0, "depth must be a whole number from 1 to 256"),
        (2, "1", "depth must be"),
    ],
)
def test_bad_numbers_are_refused(count, depth, fault):
    with pytest.raises(BadInput) as caught:
        Paths(count, depth)
    assert_one_line(caught.value, fault)
