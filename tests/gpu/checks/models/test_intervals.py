"""Intervals hold where outcomes follow their laws; a bound accuses only what is above it."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.models.intervals import Agreement


def agreement(law, seen, error=1e-6):
    """The interval after all steps, which come in two parts."""
    found = Agreement(error)
    for part in (slice(0, 7), slice(7, None)):
        found.add(law[part], seen[part])
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


def bounded(chance, bound, seed, error):
    """Whether outcomes of that chance are ever found above a bound on it."""
    random, found = torch.Generator().manual_seed(seed), Agreement(error)
    for _ in range(20):
        found.add_odds(torch.full((25,), bound), torch.rand(25, generator=random) < chance)
        if found.interval.exceeds:
            return True
    return False


def test_what_is_at_or_below_the_bound_is_rarely_accused_and_what_is_above_it_is():
    for chance in (0.3, 0.5):
        assert sum(bounded(chance, 0.5, seed, 0.1) for seed in range(100)) <= 10
    assert all(bounded(0.9, 0.5, seed, 1e-6) for seed in range(5))


def test_even_outcomes_agree_and_only_too_many_exceed():
    found = agreement(torch.full((1000, 2), 0.5), torch.arange(1000) % 2)
    assert found.agrees
    assert round(found.above, 2) == 0.1
    assert agreement(torch.full((1000, 2), 0.5), torch.ones(1000, dtype=torch.long)).exceeds
