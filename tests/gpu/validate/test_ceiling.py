"""A bound that is only estimated accuses by chance no more often than it says, and the guilty."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.validate.intervals import BETS, Ceiling


@given(st.floats(-1, 1), st.sampled_from(BETS.tolist()))
def test_each_step_is_below_a_fair_bet(d, bet):
    bet, d = torch.tensor(bet, dtype=torch.float64), torch.tensor(d, dtype=torch.float64)
    psi = -torch.log1p(-bet) - bet
    assert float(torch.exp(bet * d - psi * d**2)) <= float(1 + bet * d) + 1e-15


def ever_exceeds(chance, estimates, most, seed, error):
    """Whether outcomes of that chance are ever found above estimates that are drawn from two values."""
    random = torch.Generator().manual_seed(seed)
    found = Ceiling(most, error)
    for _ in range(20):
        odds = estimates[torch.randint(2, (25,), generator=random)]
        found.add_odds(odds, torch.rand(25, generator=random) < chance)
        if found.interval().exceeds:
            return True
    return False


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.0, 1.0), (0.0, 2.0), (0.1, 0.3)])
def test_what_is_at_the_bound_is_rarely_accused(low, high):
    estimates = torch.tensor([low, high], dtype=torch.float64)
    mean = float(estimates.mean())
    runs = range(100)
    accused = sum(ever_exceeds(mean, estimates, max(1, high), seed, 0.1) for seed in runs)
    assert accused <= 10


@pytest.mark.parametrize("seed", range(5))
def test_what_is_well_above_is_accused(seed):
    assert ever_exceeds(0.9, torch.tensor([0.0, 1.0]), 1, seed, 1e-6)


def test_nothing_yet_is_nothing():
    found = Ceiling(1).interval()
    assert (found.steps, found.exceeds) == (0, False)
