"""Races integrate to the exact laws of draws without replacement."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.gpu.checks.models.bounds import escapes, included
from draftproof.theory.numbers import exact
from draftproof.theory.transport.siblings import set_law
from draftproof.theory.transport.single_step import prefix_draws

masses = st.sampled_from([0, 1, 2, 3, 7, 10**3, 10**7, 10**12, 10**25])
weights = st.lists(masses, min_size=2, max_size=6).filter(any)


def row(drawn):
    return tuple(exact(f"{mass}/{sum(drawn)}") for mass in drawn)


@settings(max_examples=60, deadline=None)
@given(weights, st.integers(1, 4))
def test_escapes_are_the_exact_chances(drawn, k):
    q = row(drawn)
    found = escapes(torch.tensor([[float(mass) for mass in q]] * 2, dtype=torch.float64), k)
    draws = min(k, sum(mass > 0 for mass in q))
    want = [float(1 - inside) for inside in prefix_draws(q, list(range(len(q))), draws, False)]
    assert found.shape == (2, len(q) + 1, k)
    if draws == k:
        assert found[0, :, -1].tolist() == pytest.approx(want, abs=2e-11)


@settings(max_examples=60, deadline=None)
@given(weights, st.integers(1, 4))
def test_inclusion_is_the_exact_chance(drawn, k):
    q = row(drawn)
    rows = torch.tensor([[float(mass) for mass in q]] * len(q), dtype=torch.float64)
    found = included(rows, torch.arange(len(q)), k)
    for draws in range(1, min(k, sum(mass > 0 for mass in q)) + 1):
        law = set_law(q, draws, False)
        for x in range(len(q)):
            want = float(sum((mass for t, mass in law.items() if x in t), exact("0")))
            assert float(found[x, draws - 1]) == pytest.approx(want, abs=2e-11)


def test_a_vocabulary_as_large_as_real_ones_adds_up_to_the_number_of_draws():
    torch.manual_seed(0)
    q = torch.softmax(4 * torch.randn(300), 0)
    found = included(q.expand(300, -1), torch.arange(300), 4)
    assert found.sum(0).tolist() == pytest.approx([1, 2, 3, 4], abs=1e-6)


def test_two_draws_by_hand():
    q = torch.tensor([0.5, 0.25, 0.25])
    assert escapes(q, 2)[1:3].tolist() == [pytest.approx([0.5, 1.0]), pytest.approx([0.25, 7 / 12])]
    assert included(q, torch.tensor(2), 2).tolist() == pytest.approx([0.25, 7 / 12])
