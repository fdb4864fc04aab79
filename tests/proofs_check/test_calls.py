"""What holds in one call of a verifier and not over several: the witnesses, call by call."""

from dataclasses import replace

import pytest

from draftproof.proofs_check.claims.topics.calls import (
    CHECKS,
    REMEMBERING,
    SHORTER,
    TOY,
    ahead_is_worse,
    emitted,
)
from draftproof.simulators.laws.optimum import full_information
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named


def test_a_rule_with_memory_is_ahead_of_full_information_from_the_second_call_on():
    best = 1 + full_information(TOY).value
    assert [emitted(TOY, REMEMBERING, calls) for calls in (1, 2, 3)] == [best, exact("31/9"), exact("140/27")]
    assert best == exact("5/3")
    assert emitted(TOY, named("greedy-block"), 2) == 2 * best < exact("31/9")


@pytest.mark.parametrize(
    ("calls", "whole", "shorter"), [(2, "43/4", "11"), (3, "61/4", "15"), (4, "79/4", "19")]
)
def test_block_verification_is_behind_over_two_calls_and_ahead_over_more(calls, whole, shorter):
    means = [emitted(ahead_is_worse(), rule, calls) for rule in (named("block"), SHORTER)]
    assert means == [exact(whole), exact(shorter)]


def test_a_lossy_witness_refutes_nothing(monkeypatch):
    check = CHECKS["full-information-over-calls"]
    assert check() == "refuted"
    lossy = replace(REMEMBERING, carry=None)
    monkeypatch.setattr("draftproof.proofs_check.claims.topics.calls.REMEMBERING", lossy)
    assert check() == "undecided"
