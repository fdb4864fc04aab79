"""What each selection rule keeps, on drafts small enough to follow by hand."""

from pathlib import Path

import pytest
from flint import fmpq

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Unpredictable, View

P, Q = ["1/2", "1/2"], ["1/4", "3/4"]
TWO = (context_free(P, Q, Chain(2)), context_free(P, Q, Chain(2)))
LIKELY, RARE = (1, 1), (0, 0)


def kept(rule, drafts, capacity=2, speed=(), requests=TWO):
    batch = Batch(requests, named(rule), capacity, tuple(map(fmpq, speed)))
    return [shown.kept for shown in batch.select(drafts)]


@pytest.mark.parametrize(
    ("rule", "lengths"),
    [
        ("all", [1, 1]),
        ("fixed", [1, 1]),
        ("tetris", [0, 2]),  # scores 1/4, 1/16 and 3/4, 9/16
        ("tetris-repaired", [0, 2]),
        ("confidence-stop", [1, 1]),
        ("drop-forbidden", [1, 1]),  # p > 0 everywhere
        ("confidence-drop", [0, 2]),  # 1/4 is below 2/5
        ("dspark", [1, 1]),
        ("dspark-retrospective", [1, 1]),
        ("lagged", [1, 1]),
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


def test_throughput_rules_weigh_the_cost():
    # 1 - TV of P and Q is c = 3/4; tau = 2 + c + c + c^2 + c^2
    assert kept("dspark", (RARE, LIKELY), 4, (1, 1, 1, 1, 1)) == [2, 2]
    assert kept("dspark", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [1, 0]  # stops at the fall
    assert kept("dspark-retrospective", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [2, 2]
    assert kept("lagged", (RARE, LIKELY), 4, (1, 1, fmpq(1, 2), 1, 1)) == [2, 2]


def test_a_view_hides_what_was_not_kept():
    models = [(each.target, each.proposal) for each in TWO]
    view = View(models, (RARE, LIKELY), 4)
    view.keep(0)
    assert view.prefix(0, 1) == (0,)
    with pytest.raises(Unpredictable, match="token 2 of request 1 is read before it is revealed"):
        view.token(0, 1)
    with pytest.raises(Unpredictable):
        view.probability(1, 0)
    with pytest.raises(Unpredictable):
        view.token(0, -1)
    ahead = View(models, (RARE, LIKELY), 4, (), named("tetris-repaired"))
    assert ahead.token(0, 0) == 0
    with pytest.raises(Unpredictable):
        ahead.token(0, 1)


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
