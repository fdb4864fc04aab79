"""What no sampler can do is refused, with the branch: coins outside [0, 1], rows that are no law, crashes."""

import json
from dataclasses import replace

import pytest

from draftproof.simulators.laws.enumerate import Invalid, emission, outcomes
from draftproof.simulators.laws.verdict import joint, judge
from draftproof.simulators.laws.witness import smallest
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import one, scale
from draftproof.theory.verifiers import VERIFIERS, named
from draftproof.theory.verifiers.shared.modified_target import Replaced
from tests.mutants.rules import BEYOND
from tests.problems import TOY, floats

HALF = exact("1/2")


def with_coin(probability):
    """Token verification behind a coin of this probability, which the last row divides by again."""

    def verify(oracle, draft, target):
        oracle.accept(probability)
        node, row = named("token").verify(oracle, draft, target)
        return node, scale(1 / probability if probability > 0 else ONE, row)

    return replace(named("token"), verify=verify)


def crashing(error):
    """Token verification that raises once a draft ends in token 1."""

    def verify(oracle, draft, target):
        oracle.accept(one(target[()]) / 2)
        if draft.path[-1].token == 1:
            raise error
        return named("token").verify(oracle, draft, target)

    return replace(named("token"), verify=verify)


def test_a_row_with_negative_entries_is_refused_though_its_masses_add_up():
    verdict = judge(TOY, BEYOND)
    assert not verdict.lossless
    assert verdict.invalid == (
        "draft 0 0, coins accept reject: the row returned, (-998/3, 1001/3), has a negative entry"
    )
    assert (verdict.total_variation, verdict.expected_accepted) == (1, 0)


@pytest.mark.parametrize(
    ("probability", "said"),
    [(exact(2), "the coin 2 is above 1"), (exact("-1/2"), "the coin -1/2 is below 0")],
)
def test_a_coin_outside_the_unit_interval_is_refused(probability, said):
    assert judge(TOY, with_coin(probability)).invalid == f"draft 0 0, coins none: {said}"


@pytest.mark.parametrize("probability", [exact(0), exact(1)])
def test_certain_coins_are_coins(probability):
    assert judge(TOY, with_coin(probability)).lossless


@pytest.mark.parametrize(
    ("row", "said"),
    [((HALF, HALF, HALF), "sums to 3/2, not 1"), ((ONE + HALF, -HALF), "has a negative entry")],
)
def test_a_row_that_is_no_law_is_not_drawn_from(row, said):
    with pytest.raises(Invalid, match=said):
        list(outcomes(lambda oracle: oracle.choose(row)))


@pytest.mark.parametrize(
    "error", [AssertionError("no stop"), ZeroDivisionError(), IndexError("1"), KeyError(1)]
)
def test_an_exception_is_named_with_its_branch(error):
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    assert judge(TOY, crashing(error)).invalid == f"draft 0 1, coins accept: {said}"


def test_what_cannot_be_run_on_rationals_is_no_verdict():
    with pytest.raises(BadInput, match="cannot be run on rationals: a float is needed"):
        judge(TOY, crashing(TypeError("a float is needed")))


def test_over_iterations_the_tokens_before_are_named():
    def verify(oracle, draft, target):
        if draft.root.prefix:
            oracle.accept(one(target[()]) * 2)
        return named("token").verify(oracle, draft, target)

    verdict, law = joint(TOY, replace(named("token"), verify=verify), 2)
    assert (verdict.invalid, len(law)) == ("draft 0 0 after 0 0 0, coins none: the coin 2 is above 1", 0)


def test_a_target_left_behind_is_made_of_laws():
    """Its rows are read where the law of the text is completed, and where a later call returns them."""
    beyond = Replaced(TOY.target, {(x,): (exact("3/2"), exact("-1/2")) for x in range(2)})
    rule = replace(named("token"), carry=lambda target, proposal, draft, stop: beyond)
    assert judge(TOY, rule, 1).invalid == "the row left behind after 1, (3/2, -1/2), has a negative entry"
    shallow = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
    stops = replace(rule, verify=lambda oracle, draft, target: (draft.root, target[draft.root.prefix]))
    assert "coins none: the row returned, (3/2, -1/2)" in judge(shallow, stops, 2).invalid


def test_the_smallest_instance_says_why():
    small, verdict = smallest(TOY, lambda each: judge(each, BEYOND))
    assert small.draft.depth == 1
    assert "has a negative entry" in verdict.invalid


def test_floats_are_rounded_and_leave_rows_and_coins_to_the_exact_enumeration():
    """A rounded rate may be 1 + 2e-16, and a rounded row sum to it: only exact numbers tell."""
    assert emission(floats(TOY), BEYOND).total_variation == pytest.approx(0, abs=1e-9)
    with pytest.raises(Invalid):
        emission(TOY, BEYOND)


def test_commands_refuse_it_in_one_line(command, toy, monkeypatch):
    monkeypatch.setitem(VERIFIERS, "token", replace(BEYOND, lossless=True))
    status, out, err = command("law", toy, "--verifier", "token")
    assert (status, err) == (1, "")
    assert out.strip().endswith("the row returned, (-998/3, 1001/3), has a negative entry")
    assert len(out.splitlines()) == 1
    status, out, _ = command("check", toy, "--verifier", "token", "--jobs", 1)
    assert status == 1
    assert "has a negative entry" in out
    status, out, _ = command("check", toy, "--verifier", "token", "--jobs", 1, "--json")
    (row,) = json.loads(out)["results"]
    assert (status, row["lossless"]) == (1, False)
    assert row["invalid"].startswith("draft 0 0, coins accept reject: the row returned")
