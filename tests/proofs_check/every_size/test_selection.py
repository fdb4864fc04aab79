"""What selection rules read, at every size, from their own code; and rules that are refused."""

from dataclasses import replace

import pytest

from draftproof.proofs_check.every_size.selection import ANY_LENGTH, prove_batch, prove_predictable
from draftproof.simulators.instances.batches import Batches
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.batches import judge_batch
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.confidence_stop import THRESHOLD
from draftproof.theory.selection.view import Rule, Unpredictable, View, in_turn
from draftproof.theory.verifiers import token
from tests.mutants.selections import SELECTIONS, rule


def decided(select, ahead=False):
    return prove_predictable(Rule("mine", "a test", "?", predictable=True, select=select, ahead=ahead))


@pytest.mark.parametrize("name", RULES)
def test_what_is_declared_is_what_is_read(name):
    """Also of rules that are declared to read too much: they do."""
    proof = prove_predictable(named(name))
    assert (proof.verdict == "proved") == named(name).predictable, proof.why
    assert named(name).predictable or "may not be revealed" in proof.why


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_mutants_of_selection_are_refused(select):
    proof = prove_predictable(rule(select, True))
    assert proof.verdict == "undecided"
    assert "reads a drafted token that may not be revealed" in proof.why


def test_where_the_token_is_read_is_said():
    assert prove_predictable(named("tetris")).why.startswith("score, line 5: ")


def test_tetris_reads_one_token_ahead_and_no_more():
    repaired = named("tetris-repaired")
    assert prove_predictable(repaired).verdict == "proved"
    assert prove_predictable(replace(repaired, ahead=False)).verdict == "undecided"

    def two_ahead(view):
        in_turn(view, lambda r: view.token(r, view.lengths[r] + 1) == 0)

    assert "not be revealed" in decided(two_ahead, ahead=True).why


def test_what_was_revealed_stays_so():
    """The index is from before the token was kept: right after it, wrong before it."""

    def after(view):
        for r in view.open():
            j = view.lengths[r]
            view.keep(r)
            if view.token(r, j) == 0:
                return

    def before(view):
        for r in view.open():
            j = view.lengths[r]
            if view.token(r, j) == 0:
                return
            view.keep(r)

    def of_another(view):
        for r in view.open():
            j = view.lengths[r]
            view.keep(r)
            if view.token(r - 1, j) == 0:
                return

    assert decided(after).verdict == "proved"
    assert "not be revealed" in decided(before).why
    assert "not be revealed" in decided(of_another).why


def the_last_token_by_a_negative_index(view):
    """confidence-stop that does not look whether a token is kept."""
    in_turn(view, lambda r: not view.probability(r, view.lengths[r] - 1) < THRESHOLD)


def test_a_negative_index_reads_the_last_token():
    assert "not be revealed" in decided(the_last_token_by_a_negative_index).why
    with pytest.raises(Unpredictable):
        View([], [(0, 1)], 2).token(0, -1)


def the_drafts_themselves(view):
    in_turn(view, lambda r: view._drafts[r][-1] == 0)


def lengths_that_are_put_back(view):
    for r in view.open():
        view.lengths[r] += 1
        likely = view.token(r, view.lengths[r] - 1) == 0
        view.lengths[r] -= 1
        if likely:
            view.keep(r)


def lengths_in_a_list(view):
    box = [view.lengths]
    box[0][0] += 1
    in_turn(view, lambda r: view.token(0, 0) == 0)


def a_view_in_a_list(view):
    box = [view]
    in_turn(view, lambda r: box[0].token(r, view.lengths[r]) == 0)


def a_later_generator(view):
    """The request is another one when the token is read."""
    r = 0
    view.keep(r)
    tokens = (view.token(r, 0) for _ in range(1))
    r = 1
    if 0 in list(tokens):
        view.keep(0)


def a_later_map(view):
    def read(j):
        return view.token(r, j)

    r = 0
    view.keep(r)
    tokens = map(read, range(1))
    r = 1
    if 0 in list(tokens):
        view.keep(0)


def a_later_function(view):
    """The request is another one when the function is run."""

    def read():
        if view.token(r, 0) == 0:
            view.keep(0)
        yield from ()

    r = 0
    view.keep(r)
    tokens = read()
    r = 1
    list(tokens)


def an_error_that_is_caught(view):
    try:
        view.token(0, 0)
    except Unpredictable:
        view.keep(0)


SEEN = []


def what_an_earlier_call_saw(view):
    if SEEN and SEEN[0]:
        view.keep(0)


OUTSIDE = (
    the_drafts_themselves,
    lengths_that_are_put_back,
    lengths_in_a_list,
    a_view_in_a_list,
    a_later_generator,
    a_later_map,
    a_later_function,
    an_error_that_is_caught,
    what_an_earlier_call_saw,
)


@pytest.mark.parametrize("select", OUTSIDE, ids=lambda each: each.__name__)
def test_ways_around_the_view_are_not_followed(select):
    assert decided(select).verdict == "undecided"


def test_the_guard_of_the_view_is_run(monkeypatch):
    """A view whose guard is gone or off by one shows what is not revealed, and no rule is proved on it."""

    def unguarded(self, r, j):
        return self._drafts[r][j]

    def off_by_one(self, r, j):
        if self._guarded and not 0 <= j <= self.lengths[r] + self._ahead:
            raise Unpredictable
        return self._drafts[r][j]

    def own_value(view):
        in_turn(view, lambda r: view.token(r, view.lengths[r]) == 0)

    for guard in (unguarded, off_by_one):
        monkeypatch.setattr(View, "token", guard)
        assert "not be revealed" in decided(own_value).why
        assert prove_predictable(named("confidence-stop")).verdict == "proved"  # it never met the guard


def test_time_is_limited():
    proof = prove_predictable(named("dspark"), seconds=0.0)
    assert proof.verdict == "undecided"
    assert "out of time" in proof.why


def test_a_rule_that_asks_for_the_length_of_drafts_says_so():
    assert f"tetris: {ANY_LENGTH}" in prove_predictable(replace(named("tetris"), ahead=True)).claims
    assert not any(ANY_LENGTH in claim for claim in prove_predictable(named("lagged")).claims)


def by_the_depth(oracle, draft, target):
    """Token verification of one token; of more tokens none is judged."""
    if len(draft.path) > 2:
        return draft.root, target[draft.root.prefix]
    return token.verify(oracle, draft, target)


def test_lossless_at_every_depth_is_not_enough():
    rule = replace(token.VERIFIER, verify=by_the_depth)
    assert all(judge(each, rule).lossless for depth in (1, 2) for each in Randoms(Chain(depth), 2, 8))
    stops = named("confidence-stop")
    assert not all(judge_batch(batch, rule).lossless for batch in Batches(stops, 2, 2, 1, 2, 12))
    assert prove_batch(rule, stops).verdict == "undecided"
    assert prove_batch(token.VERIFIER, stops).verdict == "proved"


@pytest.mark.parametrize("rule", ["tetris", "dspark-retrospective"])
def test_a_batch_of_a_lossy_rule_is_not_proved(rule):
    found = prove_batch(token.VERIFIER, named(rule))
    assert found.verdict == "undecided"
    assert "not be revealed" in found.why
