"""Induction proofs: every step holds, and a wrong step does not."""

import pytest

from draftproof.proofs_check.induction import THEOREMS
from draftproof.proofs_check.induction.steps import always, summed
from draftproof.proofs_check.induction.terms import a, least, meet, p, plus, pos, q, reals, total

_a, _p, _q = reals("a p q")
SOME = [_a >= 0, _a <= 1, _p >= 0, _q >= 0]


@pytest.mark.parametrize("name", THEOREMS)
def test_every_step_of_every_theorem(name):
    checked = THEOREMS[name].check()
    assert [step for step, holds in checked.steps if not holds] == []
    assert THEOREMS[name].assumed


@pytest.mark.parametrize(
    "step",
    [
        always("unscaled residual", least(_a * _p, _q) + plus(_p - _q) == _a * _p, SOME),
        always("min of the wrong pair", least(_p, _q) + plus(_a * _p - _q) == _a * _p, SOME),
        summed("deficit without 1 - a", pos(q - a * p), total(pos(a * p - q))),
        summed("mass kept below", meet(a * p, q), a),
        always("every ratio is at most 1", reals("x y")[0] <= 1),
    ],
    ids=lambda step: step.statement,
)
def test_a_wrong_step_does_not_hold(step):
    assert not step.holds()


def test_the_positive_part_in_all_its_cases():
    assert always("opposite parts", plus(_p - _q) - plus(_q - _p) == _p - _q).holds()
    assert always("min and rest", plus(_p - _q) + least(_p, _q) == _p).holds()
    assert always("min as `meet` writes it", least(_p, _q) == _p - plus(_p - _q)).holds()
    assert not always("the positive part alone", plus(_p - _q) == _p - _q).holds()


def test_a_total_needs_a_known_mass():
    with pytest.raises(ValueError, match="no mass"):
        total(p * q)


def test_a_sum_of_positive_parts_is_an_unknown_of_its_own():
    assert total(pos(p - q)) != total(pos(a * p - q))
    assert total(a * p + q) == a + 1


def test_the_masses_of_both_positive_parts_differ_by_the_difference_of_masses():
    assert total(pos(q - a * p)) - total(pos(a * p - q)) == 1 - a
