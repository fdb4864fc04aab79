"""The lift of K-SEQ: lossless for every rho that K-SEQ allows, block verification on chains."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import scale
from draftproof.theory.verifiers import k_seq, lifted_k_seq, named
from tests.checks import assert_lossless, assert_same_law, is_lossy
from tests.strategies import instances, rows

LIFTED = named("lifted-k-seq")
SHAPES = (every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)))


def accepted(instance, name):
    return emission(instance, named(name)).expected_accepted


@given(instances("chain"))
def test_chains_are_verified_as_blocks(instance):
    assert_same_law(instance, LIFTED, named("block"))
    assert accepted(instance, "lifted-k-seq") == accepted(instance, "block")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(shape, data):
    assert_lossless(data.draw(instances(Tree(shape, True))), LIFTED)


@pytest.mark.parametrize("steps", [1, 2, 64])
@settings(max_examples=10)
@given(instance=instances(Tree(((), ((),)), True)))
def test_every_larger_rho_is_lossless(instance, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifted_k_seq, "STEPS", steps)
        patch.setattr(lifted_k_seq, "plan", lifted_k_seq.plan.__wrapped__)  # which is remembered
        assert_lossless(instance, LIFTED)


def test_a_smaller_rho_is_lossy(monkeypatch):
    """Three children at rho = 1: the first two already take more than some tokens have."""
    instance = context_free(["1/2", "1/2"], ["3/4", "1/4"], Tree(((), (), ()), True))
    assert_lossless(instance, LIFTED)
    monkeypatch.setattr(lifted_k_seq, "smallest_rho", lambda t, q, k, steps: ONE)
    monkeypatch.setattr(lifted_k_seq, "plan", lifted_k_seq.plan.__wrapped__)
    assert is_lossy(instance, LIFTED)


def test_siblings_drawn_without_replacement_are_not_for_it():
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ((), ()))))
    assert is_lossy(instance, LIFTED)


@given(rows(3), rows(3), st.integers(1, 4), st.fractions(0, 1, max_denominator=12))
def test_less_mass_needs_no_smaller_rho(p, q, k, a):
    part = scale(ONE * a.numerator / a.denominator, p)
    assert k_seq.smallest_rho(part, q, k) >= k_seq.smallest_rho(p, q, k)


@given(instances(Tree(every(2, 1), True)))
def test_at_one_node_it_accepts_as_k_seq_at_the_same_rho(instance):
    """Up to what K-SEQ makes of a drafted token that it draws after all, and of rounding rho."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_seq, "smallest_rho", lambda p, q, k, s=k_seq.smallest_rho: s(p, q, k, 2**40))
        patch.setattr(k_seq, "plan", k_seq.plan.__wrapped__)
        difference = accepted(instance, "k-seq") - accepted(instance, "lifted-k-seq")
    assert abs(difference) <= ONE / 2**38
