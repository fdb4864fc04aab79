"""What no sampler can do is not proved: coins outside [0, 1], rows that are no law, exceptions."""

from dataclasses import replace

import pytest

from draftproof.proofs_check.claims.checks import compare
from draftproof.proofs_check.claims.quantities import accepted
from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.numbers import exact
from draftproof.theory.rows import one, scale
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared.modified_target import Replaced
from tests.mutants.rules import BEYOND


def after(first):
    """Token verification behind what `first` does with the oracle, the draft and the root's rows p and q."""

    def verify(oracle, draft, target):
        first(oracle, draft, target[()], draft.root.proposal)
        return named("token").verify(oracle, draft, target)

    return replace(named("token"), verify=verify)


def only_off_the_diagonal(oracle, draft, p, q):
    assert p[0] != q[0], "no stop"


INVALID = {
    "the coin 3/2 is above 1": lambda oracle, draft, p, q: oracle.accept(one(p) * exact("3/2")),
    "is above 1": lambda oracle, draft, p, q: oracle.accept(p[0] + q[0]),
    "is below 0": lambda oracle, draft, p, q: oracle.accept((p[0] - q[0]) / 2),
    "sums to": lambda oracle, draft, p, q: oracle.choose((p[0], q[1])),
    "has a negative entry": lambda oracle, draft, p, q: oracle.choose((2 * p[0], one(p) - 2 * p[0])),
    "ZeroDivisionError": lambda oracle, draft, p, q: oracle.accept(p[0] * 0 / p[0]),
    "AssertionError: no stop": only_off_the_diagonal,
    "AttributeError": lambda oracle, draft, p, q: draft.path[-1].token or p[0] != 1 or draft.missing,
}


@pytest.mark.parametrize("said", INVALID)
def test_refuted_where_it_is_invalid(said):
    rule = after(INVALID[said])
    proof = prove(rule, Chain(1), 2)
    assert proof.verdict == "refuted"
    assert said in proof.why
    assert proof.counterexample is not None
    assert judge(proof.counterexample, rule).invalid == proof.why


def test_a_row_that_adds_up_by_its_negative_entries_is_refuted():
    proof = prove(BEYOND, Chain(1), 2)
    assert (proof.verdict, "has a negative entry" in proof.why) == ("refuted", True)


def test_a_target_left_behind_is_made_of_laws():
    def carry(target, proposal, draft, stop):
        row = scale(2 * one(target[()]), target[()])
        return Replaced(target, {(x,): row for x in range(2)})

    proof = prove(replace(named("token"), carry=carry), Chain(2), 2)
    assert proof.verdict == "refuted"
    assert "left behind" in proof.why


@pytest.mark.parametrize(
    "first",
    [
        lambda oracle, draft, p, q: oracle.accept(3 * p[0] * p[1]),  # at most 3/4
        lambda oracle, draft, p, q: oracle.accept((p[0] + q[0]) / 2),
        lambda oracle, draft, p, q: oracle.choose((p[0] * q[0], one(p) - p[0] * q[0])),
    ],
)
def test_coins_and_rows_that_are_valid_for_all_p_and_q_are_proved(first):
    assert prove(after(first), Chain(1), 2).verdict == "proved"


def test_an_exception_without_a_rational_instance_decides_nothing():
    """It is raised where 2 p(0)^2 = 1, which no rational solves."""

    def first(oracle, draft, p, q):
        assert 2 * p[0] * p[0] != 1

    proof = prove(after(first), Chain(1), 2)
    assert proof.verdict == "undecided"
    assert "AssertionError" in proof.why


def test_a_mean_of_no_sampler_is_not_compared():
    invalid, token = (accepted(rule, Chain(1)) for rule in (after(INVALID["is above 1"]), named("token")))
    assert compare(invalid, token, 2, 1) == "undecided"
