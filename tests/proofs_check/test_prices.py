"""Claims about prices, each with a broken version that it refuses."""

import pytest
from flint import fmpq

from draftproof.proofs_check.claims import CLAIMS, prices
from draftproof.proofs_check.claims.checks import compare
from draftproof.proofs_check.claims.claim import REACHED, REFUTED, SIZES, UNDECIDED
from draftproof.proofs_check.claims.prices import dropped, siblings, times, two_tokens
from draftproof.simulators.study.worst import tokens
from draftproof.theory.drafts.chain import Chain


def test_two_tokens_need_two_over_root_three():
    assert two_tokens(fmpq(97, 84))() == SIZES
    assert two_tokens(fmpq(15, 13))() == REFUTED  # 1.1538


def test_in_accepted_tokens_alone_the_factor_is_gamma():
    assert two_tokens(fmpq(2), bonus=0)() == SIZES
    assert two_tokens(fmpq(19, 10), bonus=0)() == REFUTED
    mean = times(fmpq(1), "token")(Chain(1))
    assert compare(mean, times(fmpq(1), "block")(Chain(1)), vocab=2, depth=1) == "equal"


@pytest.mark.slow
def test_block_against_full_information_needs_more_than_nothing():
    assert two_tokens(fmpq(1), rule="block", against="greedy-block")() == REFUTED


@pytest.mark.slow
def test_two_siblings_need_23_27ths():
    assert siblings(fmpq(23, 27))() == SIZES


def test_more_than_23_27ths_is_refuted():
    assert siblings(fmpq(6, 7))() == REFUTED


def test_a_bound_above_what_is_claimed_is_refused(monkeypatch):
    monkeypatch.setitem(prices.AT_MOST, 2, "1.154")
    assert CLAIMS["token-price"].check() == UNDECIDED


def test_another_instance_does_not_come_near_gamma(monkeypatch):
    assert CLAIMS["token-price-accepted"].check() == REACHED
    monkeypatch.setattr(prices, "dropped", lambda e, gamma: dropped(2 * e, gamma))
    assert CLAIMS["token-price-accepted"].check() == UNDECIDED


@pytest.mark.parametrize("gamma", [2, 3, 4])
def test_the_dropped_token_gives_the_closed_form(gamma):
    e = fmpq(1, 3)
    found = tokens(dropped(e, gamma), "block") / tokens(dropped(e, gamma), "token")
    assert found == (1 + gamma * e) / (1 + e + (gamma - 1) * e * e)
