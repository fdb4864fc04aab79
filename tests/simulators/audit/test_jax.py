"""Functions that draw with jax.random: their coins are not followed, so random runs decide, in loops too."""

import numpy as np
import pytest

pytest.importorskip("jax")
import jax
import jax.numpy as jnp

from draftproof.simulators import audit

KEYS = iter(range(10**9))


def verify(p, q, x, generous=1.0):
    """Token verification with jax's keys, one a call; `generous` above 1 makes it lossy."""
    key = jax.random.PRNGKey(next(KEYS))
    for i, t in enumerate(x):
        key, coin, last = jax.random.split(key, 3)
        if not float(jax.random.uniform(coin)) * q[i, t] < p[i, t] * generous:
            rest = np.maximum(p[i] - q[i], 0)
            return [*x[:i], int(jax.random.categorical(last, jnp.log(rest)))]
    return [*x, int(jax.random.categorical(key, jnp.log(p[-1])))]


def always(p, q, x):
    return verify(p, q, x, 4.0)


def generate(target, draft, prompt, length, gamma):
    """A loop that draws every token from the target, with jax's keys."""
    tokens = []
    for _ in range(length):
        row = jnp.asarray(target.row(tokens).numpy())
        tokens.append(int(jax.random.categorical(jax.random.PRNGKey(next(KEYS)), row)))
    return tokens


SMALL = {"vocab": 2, "depth": 1, "edges": False, "seconds": 60.0}


@pytest.mark.slow
def test_a_right_rule_is_undecided_and_passes_on_samples():
    report = audit.examine(verify, runs=400, **SMALL)
    assert report.lossless is None
    assert "cannot be followed" in report.undecided
    assert audit.examine(verify, vocab=3, depth=2, statistical=True, runs=400).lossless


@pytest.mark.slow
def test_a_lossy_rule_is_rejected():
    assert audit.examine(always, runs=2000, **SMALL).lossless is False


@pytest.mark.slow
def test_a_loop_is_tested_on_samples():
    report = audit.examine(audit.Loop(generate), runs=50, **SMALL)
    assert report.lossless is None
    assert report.sampled is not None
