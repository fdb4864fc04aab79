import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.rows import meet, scale, total
from draftproof.theory.verifiers import k_seq, named
from tests.checks import assert_lossless, assert_same_law, is_lossy
from tests.strategies import instances, rows

K_SEQ, STEPS = named("k-seq"), k_seq.STEPS


def allowed(rho, p, q, k):
    """1 - (1 - beta)^k <= rho beta, as the paper has it."""
    beta = total(meet(scale(1 / rho, p), q))
    return 1 - (1 - beta) ** k <= rho * beta


@given(rows(3), rows(3), st.integers(1, 5))
def test_rho_is_the_smallest_multiple_allowed(p, q, k):
    rho = k_seq.smallest_rho(p, q, k)
    assert 1 <= rho <= k
    assert (rho * STEPS).q == 1
    if any(meet(p, q)):  # else every rho will do
        assert allowed(rho, p, q, k)
        assert rho == 1 or not allowed(rho - exact(f"1/{STEPS}"), p, q, k)


@given(rows(3), rows(3), st.integers(1, 5))
def test_every_larger_rho_is_allowed_too(p, q, k):
    rho = k_seq.smallest_rho(p, q, k)
    assert all(allowed(rho + (k - rho) * step / 4, p, q, k) for step in range(5))


@given(rows(3), st.integers(1, 5))
def test_equal_models_need_no_larger_rho(p, k):
    assert k_seq.smallest_rho(p, p, k) == 1


@given(instances("chain"))
def test_one_child_is_token_verification(instance):
    assert_same_law(instance, K_SEQ, named("token"))


@settings(max_examples=15)
@given(instances(Tree(((), ((),)), True)), st.integers(0, 3))
def test_every_larger_rho_is_lossless(instance, step):
    smallest = k_seq.smallest_rho

    def larger(p, q, k):
        rho = smallest(p, q, k)
        return rho + (k - rho) * step / 3

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_seq, "smallest_rho", larger)
        patch.setattr(k_seq, "plan", k_seq.plan.__wrapped__)  # which is remembered
        assert_lossless(instance, K_SEQ)


def test_a_smaller_rho_is_lossy():
    """Half of p lies where q is heavy: accepting at rho = 1 keeps more than p has."""
    instance = context_free(["1/2", "1/2"], ["3/4", "1/4"], Tree(every(2, 1), True))
    assert k_seq.smallest_rho(instance.target[()], instance.proposal[()], 2) > 1
    assert_lossless(instance, K_SEQ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_seq, "smallest_rho", lambda p, q, k: ONE)
        patch.setattr(k_seq, "plan", k_seq.plan.__wrapped__)
        assert is_lossy(instance, K_SEQ)


def test_exact_and_float_rows_do_not_share_an_answer():
    half, floats = (exact("1/2"), exact("1/2")), (0.5, 0.5)
    for row, kind in ((half, type(ONE)), (floats, float), (half, type(ONE))):
        assert type(k_seq.smallest_rho(row, row, 2)) is kind


@given(rows(2), st.integers(1, 4))
def test_geometric_sum(p, k):
    beta = p[0]
    assert k_seq.geometric(beta, k) * beta == 1 - (1 - beta) ** k
    assert k_seq.geometric(ZERO, k) == k
