"""The interval holds where outcomes follow their laws, and does not where they do not."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.validate.intervals import Agreement


def outcomes(error, bias, seed, steps=400):
    random = torch.Generator().manual_seed(seed)
    law = torch.rand(steps, 4, generator=random, dtype=torch.float64)
    law = law / law.sum(1, keepdim=True)
    real = law * torch.tensor([1 - bias, 1, 1, 1 + bias])
    seen = torch.multinomial(real, 1, generator=random)[:, 0]
    found = Agreement(torch.arange(4), error)
    for part in range(0, steps, 50):
        found.add(law[part : part + 50], seen[part : part + 50])
    return found.interval()


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
    found = Agreement(torch.arange(3))
    assert found.interval().agrees
    found.add(torch.tensor([[0.0, 1.0, 0.0]] * 1000), torch.ones(1000, dtype=torch.long))
    interval = found.interval()
    assert interval.measured == interval.predicted == 1
    assert interval.above < 0.01
    found.add(torch.tensor([[0.0, 1.0, 0.0]] * 40), torch.full((40,), 2))
    assert found.interval().exceeds
