"""The test on samples: its law, its power, its false alarms."""

from itertools import product
from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators import audit
from draftproof.simulators.support.anytime import Process, detectable
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law
from draftproof.theory.numbers import exact
from tests.mutants import controls, functions
from tests.simulators.audit import foreign

COIN = Law({(x,): exact(mass) for x, mass in enumerate(("1/2", "1/3", "1/6"))})


@given(st.lists(st.integers(0, 2), max_size=60))
def test_one_at_a_time_or_all_at_once_the_evidence_is_the_same(tokens):
    process = Process(len(COIN))
    for token in tokens:
        process.update(token, float(COIN[(token,)]))
    counts = [tokens.count(x) for x in range(3)]
    mixture = lgamma(3) - lgamma(3 + len(tokens)) + sum(lgamma(count + 1) for count in counts)
    law = sum(count * log(float(COIN[(x,)])) for x, count in enumerate(counts))
    assert process.log_e == pytest.approx(mixture - law, abs=1e-9)
    assert process.runs == len(tokens)


@given(st.integers(0, 6))
def test_the_e_value_is_one_on_average(length):
    mean = 0.0
    for tokens in product(range(3), repeat=length):
        process, mass = Process(3), 1.0
        for token in tokens:
            process.update(token, float(COIN[(token,)]))
            mass *= float(COIN[(token,)])
        mean += mass * np.exp(process.log_e)
    assert mean == pytest.approx(1)


def test_a_rejection_is_kept():
    process = Process(2, error=0.1)
    while not process.rejected:
        process.update(0, 0.5)
    for _ in range(100):
        process.update(1, 0.9)
    assert process.rejected
    assert process.log_e < 0 < process.most


def test_false_alarms_are_as_rare_as_said():
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(300):
        process = Process(3, error=0.05)
        for token in rng.choice(3, p=[1 / 2, 1 / 3, 1 / 6], size=200):
            process.update(int(token), float(COIN[(int(token),)]))
        alarms += process.rejected
    assert alarms <= 25  # 15 expected at most; 25 has less than 1 % of a binomial at 0.05


def test_what_is_detectable_is_detected():
    runs = 2000
    bias = detectable(2, runs) * 1.3
    rng, process = np.random.default_rng(0), Process(2)
    for token in rng.random(runs) < 0.5 + bias:
        process.update(bool(token), 0.5)
    assert process.rejected
    assert detectable(2, 10 * runs) < detectable(2, runs) < detectable(20, runs) <= detectable(10**9, 1) == 1


@pytest.mark.parametrize("verify", [foreign.good, controls.sampling_match])
def test_good_ones_pass(verify):
    report = audit.assert_lossless(verify, statistical=True, vocab=3, depth=2, runs=300)
    assert report.to_dict()["adapter"].endswith("statistical")
    assert report.to_dict()["witness"] is None
    assert "no bias found, statistical" in str(report)


@pytest.mark.parametrize(
    "verify",
    [
        functions.residual_from_the_target,
        functions.one_coin_for_all,
        functions.target_row_late,
        foreign.raises,
    ],
)
@pytest.mark.sampled(2)
def test_biased_ones_are_rejected(verify):
    report = audit.examine(verify, statistical=True, vocab=3, depth=2)
    assert (report.lossless, report.status) == (False, 1), report
    assert "rejected after" in str(report)


def test_torch_functions_are_tested_with_their_own_coins():
    torch = pytest.importorskip("torch")
    before = torch.random.get_rng_state()

    def from_the_target(p, q, x):
        return [int(torch.multinomial(p[0], 1))]

    def from_the_draft(p, q, x):
        return [int(torch.multinomial(q[0], 1))]

    good, bad = (audit.Function(verify, tensors=True) for verify in (from_the_target, from_the_draft))
    options = {"statistical": True, "vocab": 5, "depth": 1, "runs": 3000}
    assert audit.examine(good, **options).lossless
    assert audit.examine(bad, **options).lossless is False
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_vocabulary_that_is_too_large():
    with pytest.raises(BadInput, match="at most 5,000 words"):
        audit.examine(foreign.good, statistical=True, vocab=10**9)
