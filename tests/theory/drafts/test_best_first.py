"""Best-first trees: as many nodes as asked, grown by what has been drawn, and lossless for that reason."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import best_first
from draftproof.theory.drafts.best_first import BestFirst, accepted, doubt, worthwhile
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import supported
from draftproof.theory.shared.strata import strata
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.checks import assert_lossless, bracketed, children, drafts, drawn, is_lossy
from tests.strategies import instances, rows, tables

VERIFIERS = [named(name) for name in ("priority", "lifted-priority", "nss")]
LIFTED = named("lifted-priority")
P, Q = ["1/2", "1/3", "1/6"], ["1/5", "1/5", "3/5"]


def size(draft: Draft) -> int:
    return sum(1 for _ in draft.root) - 1


@given(tables(3, 3), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=25)
def test_drafts_are_strata_and_as_many_as_asked(proposal, nodes, depth):
    found = list(drafts(BestFirst(nodes, min(depth, nodes)), proposal))
    assert sum(weight for weight, _ in found) == 1
    assert len(found) <= BestFirst(nodes, min(depth, nodes)).outcomes(3)
    for _, draft in found:
        assert size(draft) <= nodes
        for node in draft.root:
            assert len(node.prefix) <= depth
            laws = draft.laws(node) if node.children else ()
            assert len(laws) == len(node.children)
            assert all(row[child.token] > 0 for row, child in zip(laws, node.children, strict=True))
            assert not laws or laws == strata(node.proposal, len(laws))
        full = all(node.children for node in draft.root if len(node.prefix) < depth)
        assert size(draft) == nodes or full


@given(rows(3))
def test_one_node_is_a_chain_and_one_level_a_stratified_node(q):
    proposal = Table.exact(3, {(): q})
    assert drawn(BestFirst(1, 1), proposal, bracketed) == drawn(Chain(1), proposal, bracketed)
    for nodes in (2, 3):
        law = drawn(BestFirst(nodes, 1), proposal, children)
        count = len(max(word for word, _ in law.items()))
        assert law == drawn(Stratified(every(count, 1)), proposal, children)


def test_the_shape_depends_on_what_was_drawn():
    """Below a token that can have one child only there is one, below another one there are two."""
    proposal = Table.exact(3, {(): ["199/200", "1/200", 0], (0,): [1, 0, 0], (1,): ["1/3", "1/3", "1/3"]})
    shapes = {len(draft.root.children[0].children) for _, draft in drafts(BestFirst(16, 2), proposal)}
    assert shapes == {1, 2}


@pytest.mark.parametrize("verifier", VERIFIERS, ids=lambda each: each.name)
@pytest.mark.parametrize("draft", [BestFirst(3, 3), BestFirst(9, 2)], ids=str)
@settings(max_examples=6)
@given(data=st.data())
def test_growth_by_earlier_draws_is_lossless(verifier, draft, data):
    assert_lossless(data.draw(instances(draft)), verifier)


@pytest.mark.parametrize("verifier", VERIFIERS, ids=lambda each: each.name)
@settings(max_examples=6)
@given(data=st.data())
def test_any_growth_by_earlier_draws_is_lossless(verifier, data):
    """What was drawn below one child decides how many children another one gets, by some rule."""

    def some(q, unsure, reach, value, most):
        return min(most, supported(q), 1 + int((reach / value).numer() % 2))

    instance = data.draw(instances(BestFirst(4, 3), vocab=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best_first, "worthwhile", some)
        assert_lossless(instance, verifier)


@dataclass(frozen=True)
class Peeking(BestFirst):
    """Draws two strata and keeps the first only where it is the likelier token: its own draw decides."""

    def draw(self, oracle, proposal, context=()):
        q = proposal[context]
        tokens = [oracle.choose(row) for row in strata(q, 2)]
        if q[tokens[1]] < q[tokens[0]]:
            return Draft(Node(context, q, (Node((*context, tokens[0]), None),)), stratified=True)
        nodes = tuple(Node((*context, x), None) for x in tokens)
        return Draft(Node(context, q, nodes), stratified=True)


@pytest.mark.parametrize("verifier", VERIFIERS[:2], ids=lambda each: each.name)
def test_growth_by_the_tokens_that_it_draws_is_lossy(verifier):
    assert_lossless(context_free(P, Q, BestFirst(2, 1)), verifier)
    assert is_lossy(context_free(P, Q, Peeking(2, 1)), verifier)


def test_children_that_are_asked_for_after_a_look_at_their_siblings_are_lossy(monkeypatch):
    instance = context_free(P, Q, BestFirst(4, 2))
    monkeypatch.setattr(best_first, "worthwhile", lambda q, unsure, reach, value, most: min(most, 2))
    assert_lossless(instance, LIFTED)
    monkeypatch.setattr(best_first, "from_strata", after_a_look)
    assert is_lossy(instance, LIFTED)


def after_a_look(oracle, q, count):
    """The second stratum's token only where it is token 0."""
    tokens = [oracle.choose(row) for row in strata(q, count)]
    return tokens if tokens[-1] == 0 else tokens[:1]


@given(rows(4), st.integers(1, 4))
def test_what_is_accepted_grows_with_siblings_depth_and_certainty(q, count):
    unsure = doubt(q, 0)
    now, more, deeper = accepted(q, unsure, count), accepted(q, unsure, count + 1), doubt(q, 3)
    assert min(now) >= 0
    assert 1 - unsure / 3 <= sum(now) <= sum(more) <= 1
    assert sum(accepted(q, unsure, 1)) == 1 - unsure / 3
    assert deeper == unsure * 4 / 7
    assert sum(accepted(q, deeper, count)) > sum(now)


def test_even_the_surest_token_is_sometimes_refused():
    sure, nearly = (ONE, ONE * 0), (exact("99/100"), exact("1/100"))
    assert accepted(sure, doubt(sure, 0), 2) == [exact("5/6")]
    first, second = accepted(nearly, doubt(nearly, 0), 2)
    assert 7 * second < first < exact("19/20")


def test_siblings_are_drawn_while_they_are_worth_it():
    flat = (exact("1/4"),) * 4
    assert [worthwhile(flat, ONE, ONE, ONE / n, 4) for n in (2, 8, 30, 60)] == [1, 2, 3, 4]
    assert worthwhile(flat, ONE / 4, ONE, ONE / 30, 4) == 2
    assert worthwhile(flat, ONE, ONE, ONE / 60, 2) == 2
    assert worthwhile((ONE, ONE * 0), ONE, ONE, ONE / 60, 4) == 1


def test_spelled_in_one_word_and_checked():
    assert scheme("best-first:8x4") == BestFirst(8, 4)
    for nodes, depth in ((2, 3), (0, 0), (5000, 2), (True, 1)):
        with pytest.raises(BadInput):
            BestFirst(nodes, depth)
    with pytest.raises(BadInput):
        scheme("best-first:8")


def test_smaller_trees_have_fewer_nodes_or_levels():
    assert list(BestFirst(3, 3).smaller()) == [BestFirst(2, 2), BestFirst(3, 2)]
    assert not list(BestFirst(1, 1).smaller())
