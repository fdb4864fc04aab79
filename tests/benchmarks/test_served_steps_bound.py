"""The law of the number of steps, where it is known."""

import numpy as np
import pytest

from benchmarks.served_acceptance import GAMMA, TOKENS
from benchmarks.served_steps_bound import law


@pytest.mark.parametrize(("rate", "steps"), [(0.0, TOKENS), (1.0, -(-TOKENS // (GAMMA + 1)))])
def test_sure_coins(rate, steps):
    assert law(np.full(TOKENS, rate))[steps] == pytest.approx(1)


def test_coins_that_are_thrown():
    rng = np.random.default_rng(7)
    rates = rng.random(TOKENS)
    found = law(rates)
    assert found.sum() == pytest.approx(1)
    drawn = []
    for _ in range(400):
        at = steps = 0
        while at < TOKENS:
            kept = 0
            while kept < GAMMA and (at + kept >= TOKENS or rng.random() < rates[at + kept]):
                kept += 1
            at, steps = at + kept + 1, steps + 1
        drawn.append(steps)
    mean = found @ np.arange(TOKENS + 1)
    sd = np.sqrt(found @ (np.arange(TOKENS + 1) - mean) ** 2)
    assert abs(np.mean(drawn) - mean) < 4 * sd / 20
