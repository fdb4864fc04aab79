"""What every drafting scheme keeps to, whatever its rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.draft import Node
from draftproof.theory.drafts import SCHEMES, Scheme
from draftproof.theory.rows import supported
from draftproof.theory.table import Table
from draftproof.theory.verifier import ALL
from tests.checks import bracketed, drafts, drawn
from tests.strategies import instances, schemes

EVERY = pytest.mark.parametrize("label", ALL)


def nodes(root: Node) -> list[Node]:
    return [root, *(below for child in root.children for below in nodes(child))]


@EVERY
@given(data=st.data())
def test_drafts_are_a_law(label, data):
    instance = data.draw(instances(label))
    found = list(drafts(instance.draft, instance.proposal))
    assert all(weight > 0 for weight, _ in found)
    assert sum(weight for weight, _ in found) == 1


@EVERY
@given(data=st.data())
def test_every_node_knows_its_context_and_the_law_of_its_children(label, data):
    instance = data.draw(instances(label))
    for _, draft in drafts(instance.draft, instance.proposal, context=(1, 0)):
        assert draft.root.prefix == (1, 0)
        for node in nodes(draft.root):
            assert all(child.prefix[:-1] == node.prefix for child in node.children)
            assert all(node.proposal[child.token] > 0 for child in node.children)
            assert not node.children or node.proposal is instance.proposal[node.prefix]


@EVERY
@given(data=st.data())
def test_drafts_are_as_deep_as_the_scheme_says_where_the_support_suffices(label, data):
    instance = data.draw(instances(data.draw(schemes(label, nodes=3)), vocab=3, zeros=False))
    for _, draft in drafts(instance.draft, instance.proposal):
        assert max(len(path) - 1 for path in draft.paths) == instance.draft.depth


@EVERY
@given(data=st.data())
def test_the_number_of_outcomes_is_bounded(label, data):
    instance = data.draw(instances(label))
    support = max(supported(row) for _, row in instance.proposal.given())
    assert sum(1 for _ in drafts(instance.draft, instance.proposal)) <= instance.draft.outcomes(support)


@pytest.mark.parametrize("label", [label for label in ALL if label != "stratified"])
@given(data=st.data())
def test_the_bound_is_met_where_the_support_suffices(label, data):
    instance = data.draw(instances(data.draw(schemes(label, nodes=3)), vocab=3, zeros=False))
    assert sum(1 for _ in drafts(instance.draft, instance.proposal)) == instance.draft.outcomes(3)


@EVERY
@given(data=st.data())
def test_smaller_schemes_are_smaller_and_of_the_same_label(label, data):
    scheme = data.draw(schemes(label))
    smaller = list(scheme.smaller())
    assert all(size(each) < size(scheme) for each in smaller)
    assert all(each.label == label for each in smaller)
    assert len(set(smaller)) == len(smaller)
    assert bool(smaller) == (size(scheme) > (2 if label == "spechub" else 1))


def size(scheme: Scheme) -> int:
    """The lengths of all paths of a draft from a proposal with support enough."""
    _, draft = next(drafts(scheme, Table.exact(4, {(): ["1/4"] * 4})))
    return sum(len(path) - 1 for path in draft.paths)


@EVERY
@given(data=st.data())
def test_without_choice_nothing_is_random(label, data):
    scheme = data.draw(schemes(label))
    assert drawn(scheme, Table.exact(1, {(): [1]}), bracketed).total == 1
    assert len(drawn(scheme, Table.exact(1, {(): [1]}), bracketed)) == 1


def test_schemes_are_found_by_their_kind():
    assert set(SCHEMES) == {
        "chain",
        "tree",
        "paths",
        "top-k",
        "greedy",
        "spechub",
        "stratified",
        "best-first",
        "ddtree",
    }
    assert all(scheme.kind == kind for kind, scheme in SCHEMES.items())
