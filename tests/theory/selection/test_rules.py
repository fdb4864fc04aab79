"""What each selection rule keeps, on drafts small enough to follow by hand."""

from itertools import product
from pathlib import Path

import pytest
from flint import fmpq

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.svip import LARGEST
from draftproof.theory.selection.tetris_refill import threshold
from draftproof.theory.selection.view import Unpredictable, View
from draftproof.theory.shared.divergence import entropy_exceeds
from draftproof.theory.table import Table

P, Q = ["1/2", "1/2"], ["1/4", "3/4"]
TWO = (context_free(P, Q, Chain(2)), context_free(P, Q, Chain(2)))
LIKELY, RARE = (1, 1), (0, 0)


def kept(rule, drafts, capacity=2, speed=(), requests=TWO):
    return Batch(requests, named(rule), capacity, tuple(map(fmpq, speed))).lengths(drafts)


@pytest.mark.parametrize(
    ("rule", "lengths"),
    [
        ("all", [1, 1]),
        ("fixed", [1, 1]),
        ("tetris", [0, 2]),  # scores 1/4, 1/16 and 3/4, 9/16
        ("tetris-repaired", [0, 2]),
        ("tetris-refill", [0, 2]),
        ("tetris-shifted", [1, 1]),  # first tokens have the score 1
        ("confidence-stop", [1, 1]),
        ("drop-forbidden", [1, 1]),  # p > 0 everywhere
        ("confidence-drop", [0, 2]),  # 1/4 is below 2/5
        ("dspark", [1, 1]),
        ("dspark-retrospective", [1, 1]),
        ("lagged", [1, 1]),
        ("svip", [1, 1]),
        ("specdec++", [1, 1]),
        ("goodput", [1, 1]),
    ],
)
def test_what_is_kept_of_a_rare_and_a_likely_draft(rule, lengths):
    assert kept(rule, (RARE, LIKELY), speed=(1, 1, 1)) == lengths


def test_every_rule_is_listed_above_and_has_a_known_source():
    (marks,) = [
        mark
        for mark in test_what_is_kept_of_a_rare_and_a_likely_draft.pytestmark
        if mark.name == "parametrize"
    ]
    assert {rule for rule, _ in marks.args[1]} == set(RULES)
    known = (Path(__file__).parents[3] / "references.bib").read_text(encoding="utf-8")
    for rule in RULES.values():
        assert rule.source.startswith("ours") or f"{{{rule.source.split(',')[0]}," in known


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("capacity", range(5))
def test_no_rule_keeps_more_than_the_capacity(rule, capacity):
    assert sum(kept(rule, (RARE, LIKELY), capacity)) <= capacity
    assert kept(rule, (RARE, LIKELY), 0) == [0, 0]


def test_confidence_stop_keeps_the_weak_token():
    assert kept("confidence-stop", (RARE, LIKELY), 4) == [1, 2]
    assert kept("confidence-drop", (RARE, LIKELY), 4) == [0, 2]


def test_svip_stops_at_an_entropy_above_three_fifths():
    half, quarter = fmpq(1, 2), fmpq(1, 4)
    assert entropy_exceeds((half, half), LARGEST)  # log 2 = 0.693
    assert not entropy_exceeds((quarter, 1 - quarter), LARGEST)  # 0.562
    assert not entropy_exceeds((fmpq(1), fmpq(0)), LARGEST)
    unsure = context_free(P, P, Chain(2))
    assert kept("svip", (RARE, LIKELY), 4, requests=(unsure, TWO[0])) == [0, 2]


def test_specdec_stops_once_a_rejection_is_likely():
    table = Table.exact(2, {(): ["1/8", "7/8"]})
    strict = Instance(table, Table.exact(2, {(): ["1/2", "1/2"]}), Chain(2))  # token 0: p/q = 1/4
    assert kept("specdec++", (RARE, LIKELY), 4, requests=(strict, strict)) == [1, 2]


def test_throughput_rules_weigh_the_cost():
    c = fmpq(3, 4)  # 1 - TV of P and Q; tau = 2 + c + c + c^2 + c^2
    assert kept("dspark", (RARE, LIKELY), 4, (1, 1, 1, 1, 1)) == [2, 2]
    assert kept("dspark", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [1, 0]  # stops at the fall
    assert kept("dspark-retrospective", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [2, 2]
    assert kept("lagged", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [2, 2]
    assert kept("goodput", (RARE, LIKELY), 4, (1, 1, 1 / (1 + c) - fmpq(1, 100), 0, 0)) == [0, 0]
    assert kept("goodput", (RARE, LIKELY), 4, (1, 1, 1 / (1 + c) + fmpq(1, 100), 0, 0)) == [1, 1]


def test_a_view_hides_what_was_not_kept():
    models = [(each.target, each.proposal) for each in TWO]
    view = View(models, (RARE, LIKELY), 4)
    view.keep(0)
    assert view.prefix(0, 1) == (0,)
    with pytest.raises(Unpredictable, match="token 2 of request 1 is read before it is revealed"):
        view.token(0, 1)
    with pytest.raises(Unpredictable):
        view.probability(1, 0)
    ahead = View(models, (RARE, LIKELY), 4, (), named("tetris-repaired"))
    assert ahead.token(0, 0) == 0
    with pytest.raises(Unpredictable):
        ahead.token(0, 1)


def test_refill_knows_what_would_have_been_kept():
    (first, second) = Batch(TWO, named("tetris-refill"), 1).select(((0, 0), (1, 1)))
    assert (first.tokens, second.tokens) == ((), (1,))
    assert first.sets == (
        frozenset({1}),
    )  # token 1 would tie with request 2, and the first request wins ties
    assert second.sets == (frozenset({1}), frozenset())


@pytest.mark.parametrize("capacity", range(7))
def test_a_threshold_of_q_separates_what_would_have_been_kept(capacity):
    """On every batch of three drafts, with ties in plenty."""
    rows = {(): [1, 2, 3], (0,): [3, 2, 1], (1,): [2, 2, 2], (2,): [0, 3, 3]}
    table = Table.exact(3, {key: [fmpq(n, 6) for n in row] for key, row in rows.items()})
    requests = [Instance(table, table, Chain(depth)) for depth in (2, 2, 1)]
    batch = Batch(tuple(requests), named("tetris-refill"), capacity)
    words = [[(x, y) for x in range(3) for y in range(3) if table[(x,)][y] > 0], [(0,), (1,), (2,)]]
    for drafts in product(words[0], words[0], words[1]):
        view = View([(table, table)] * 3, drafts, capacity, (), named("tetris-refill"))
        for r, shown in enumerate(batch.select(drafts)):
            for j, kept in enumerate(shown.sets):
                bound, equal = threshold(view, r, j)
                q = table[drafts[r][:j]]
                assert kept == {y for y, mass in enumerate(q) if mass > bound or (equal and mass == bound)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity": -1}, "capacity must be a whole number from 0, not -1"),
        ({"capacity": True}, "capacity must be a whole number from 0, not True"),
        ({"requests": ()}, "at least one request"),
        ({"requests": (context_free(P, Q, TopK(((),))),)}, "request 1: selection is defined on chains"),
        ({"speed": (fmpq(1),)}, "speed needs 3 numbers, for 0 to 2 verified tokens"),
        ({"requests": (context_free(P, Q, Chain(9)),) * 2}, "more than 100,000 drafts"),
    ],
)
def test_bad_batches(change, message):
    with pytest.raises(BadInput, match=message):
        Batch(**{"requests": TWO, "rule": named("all"), "capacity": 2, **change})


def test_an_unknown_rule():
    with pytest.raises(BadInput, match="no selection rule is named 'tetriss'; did you mean tetris"):
        named("tetriss")
    with pytest.raises(BadInput, match="no selection rule is named 'x'; there are all, confidence-drop"):
        named("x")
