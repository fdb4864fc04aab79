"""Intervals hold where outcomes follow their laws; an estimated bound accuses only what is above it."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.checks.models.intervals import BETS, Agreement, Ceiling


def agreement(law, seen, error=1e-6):
    """The interval after all steps, which come in two parts."""
    found = Agreement(error)
    for part in (slice(0, 7), slice(7, None)):
        found.add(law[part], seen[part])
    return found.interval


def ceiling(odds, seen, most, error=1e-6):
    """Likewise."""
    found = Ceiling(most, error)
    for part in (slice(0, 7), slice(7, None)):
        found.add_odds(odds[part], seen[part])
    return found.interval


def outcomes(error, bias, seed, steps=400):
    random = torch.Generator().manual_seed(seed)
    law = torch.rand(steps, 4, generator=random, dtype=torch.float64)
    law = law / law.sum(1, keepdim=True)
    real = law * torch.tensor([1 - bias, 1, 1, 1 + bias])
    seen = torch.multinomial(real, 1, generator=random)[:, 0]
    return agreement(law, seen, error)


def test_false_alarms_are_rarer_than_the_error():
    assert sum(not outcomes(0.2, 0.0, seed).agrees for seed in range(100)) <= 20


def test_the_measured_mean_is_inside_and_a_bias_is_outside():
    fair, biased = outcomes(1e-6, 0.0, 1), outcomes(1e-6, 0.8, 1)
    assert fair.agrees
    assert not fair.exceeds
    assert not biased.agrees
    assert biased.exceeds
    assert fair.steps == 400


def test_certain_outcomes_have_no_spread_and_none_agrees_with_nothing():
    none = torch.empty(0, dtype=torch.long)
    assert agreement(torch.empty(0, 3), none).agrees
    law, seen = torch.tensor([[0.0, 1.0, 0.0]] * 1040), torch.ones(1040, dtype=torch.long)
    interval = agreement(law[:1000], seen[:1000])
    assert interval.measured == interval.predicted == 1
    assert interval.above < 0.01
    seen[1000:] = 2
    assert agreement(law, seen).exceeds


@given(st.floats(-1, 1), st.sampled_from(BETS.tolist()))
def test_each_step_is_below_a_fair_bet(d, bet):
    bet, d = torch.tensor(bet, dtype=torch.float64), torch.tensor(d, dtype=torch.float64)
    psi = -torch.log1p(-bet) - bet
    assert float(torch.exp(bet * d - psi * d**2)) <= float(1 + bet * d) + 1e-15


def ever_exceeds(chance, estimates, most, seed, error):
    """Whether outcomes of that chance are ever found above estimates that are drawn from two values."""
    random = torch.Generator().manual_seed(seed)
    odds, seen = torch.empty(0), torch.empty(0)
    for _ in range(20):
        odds = torch.cat((odds, estimates[torch.randint(2, (25,), generator=random)]))
        seen = torch.cat((seen, torch.rand(25, generator=random) < chance))
        if ceiling(odds, seen, most, error).exceeds:
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


def test_even_outcomes_agree_and_only_too_many_exceed():
    seen, odds = torch.arange(1000) % 2, torch.full((1000,), 0.5)
    found = agreement(torch.full((1000, 2), 0.5), seen)
    assert found.agrees
    assert round(found.above, 2) == 0.1
    assert not ceiling(odds, seen == 0, 1).exceeds
    assert ceiling(odds, seen >= 0, 1).exceeds
