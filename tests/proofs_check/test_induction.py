"""Induction proofs: every step holds, and a wrong step does not."""

import pytest

from draftproof.proofs_check.induction import THEOREMS
from draftproof.proofs_check.induction.steps import always, every_token, summed
from draftproof.proofs_check.induction.terms import a, meet, p, pos, q, reals, same_for_every_token, total


@pytest.mark.parametrize("name", THEOREMS)
def test_every_step_of_every_theorem(name):
    checked = THEOREMS[name].check()
    assert [step for step, holds in checked.steps if not holds] == []
    assert THEOREMS[name].assumed


@pytest.mark.parametrize(
    "step",
    [
        every_token("unscaled residual", meet(a * p, q) + pos(p - q), a * p),
        every_token("min of the wrong pair", meet(p, q) + pos(a * p - q), a * p),
        summed("deficit without 1 - a", pos(q - a * p), total(pos(a * p - q))),
        summed("mass kept below", meet(a * p, q), a),
        always("every ratio is at most 1", reals("x y")[0] <= 1),
    ],
    ids=lambda step: step.statement,
)
def test_a_wrong_step_does_not_hold(step):
    assert not step.holds()


def test_the_positive_part_in_all_its_cases():
    assert same_for_every_token(pos(p - q) - pos(q - p), p - q)
    assert same_for_every_token(pos(p - q) + meet(p, q), p)
    assert not same_for_every_token(pos(p - q), p - q)


def test_a_total_needs_a_known_mass():
    with pytest.raises(ValueError, match="no mass"):
        total(p * q)


def test_a_sum_of_positive_parts_is_an_unknown_of_its_own():
    assert total(pos(p - q)) != total(pos(a * p - q))
    assert total(a * p + q) == a + 1
