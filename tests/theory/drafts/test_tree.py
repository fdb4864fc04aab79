import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import without
from draftproof.theory.table import Table
from tests.checks import assert_one_line, bracketed, children, drafts, drawn, joint
from tests.problems import LOPSIDED
from tests.strategies import rows, shapes, tables

COUNTS = st.integers(1, 4)


def siblings(count: int, replacement: bool) -> Tree:
    return Tree(every(count, 1), replacement)


@given(rows(3), COUNTS)
def test_with_replacement_siblings_are_independent(q, count):
    law = drawn(siblings(count, True), Table.exact(3, {(): q}), children)
    assert all(len(word) == count for word in law)
    assert all(mass == joint(q[x] for x in word) for word, mass in law.items())


@given(rows(3, zeros=False))
def test_without_replacement_a_pair_has_q_of_x_times_q_of_y_given_not_x(q):
    law = drawn(siblings(2, False), Table.exact(3, {(): q}), children)
    pairs = {(x, y): q[x] * q[y] / (1 - q[x]) for x in range(3) for y in range(3) if x != y}
    assert law == Law(pairs)


@given(rows(4), COUNTS)
def test_without_replacement_each_sibling_leaves_out_the_earlier_ones(q, count):
    law = drawn(siblings(count, False), Table.exact(4, {(): q}), children)
    for word, mass in law.items():
        left, expected = q, ONE
        for x in word:
            expected, left = expected * left[x], without(left, x)
        assert mass == expected
        assert len(set(word)) == len(word) == min(count, sum(x > 0 for x in q))


@given(tables(2, 2), shapes(4, depth=2), st.booleans())
def test_a_tree_is_drawn_node_by_node(proposal, shape, replacement):
    for weight, draft in drafts(Tree(shape, replacement), proposal):
        assert weight == _probability(draft.root, replacement)


def _probability(node, replacement):
    q, mass = node.proposal, ONE
    for child in node.children:
        mass *= q[child.token] * _probability(child, replacement)
        q = q if replacement else without(q, child.token)
    return mass


@given(tables(3, 1))
def test_where_the_support_runs_out_the_first_entries_of_the_shape_are_drawn(proposal):
    shape = (((),), (), ((), ()))  # the children of the root have one, no and two children
    for _, draft in drafts(Tree(shape, False), proposal):
        asked = [1, 0, 2][: len(draft.root.children)]
        assert len(asked) == min(3, sum(x > 0 for x in proposal[()]))
        for child, wanted in zip(draft.root.children, asked, strict=True):
            support = sum(x > 0 for x in proposal[child.prefix])
            assert len(child.children) == min(wanted, support)


@given(tables(2, 2), st.integers(1, 3), st.booleans())
def test_a_tree_of_only_children_is_a_chain(proposal, depth, replacement):
    tree = Tree(every(1, depth), replacement)
    assert drawn(tree, proposal, bracketed) == drawn(Chain(depth), proposal, bracketed)


def test_a_tree_remembers_how_it_was_drawn():
    proposal = Table.exact(2, {(): ["1/2", "1/2"]})
    assert all(draft.replacement for _, draft in drafts(Tree(LOPSIDED, True), proposal))
    assert not any(draft.replacement for _, draft in drafts(Tree(LOPSIDED, False), proposal))
    assert Tree(LOPSIDED).replacement is False


@pytest.mark.parametrize("replacement", [0, 1, "true", None, []])
def test_replacement_is_yes_or_no(replacement):
    with pytest.raises(BadInput) as caught:
        Tree(LOPSIDED, replacement)
    assert_one_line(caught.value, "replacement must be true or false")
