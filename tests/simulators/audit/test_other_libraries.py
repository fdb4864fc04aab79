"""Functions that draw with jax or MLX: their coins are not followed, so random runs decide, in loops too.

Neither library is among the extras: `pip install jax "mlx[cpu]"`. A test is skipped without its library.
"""

import numpy as np
import pytest

from draftproof.simulators import audit

KEYS = iter(range(10**9))  # jax's, one a draw
SMALL = {"vocab": 2, "depth": 1, "edges": False, "seconds": 60.0}  # jax compiles at its first call


class Jax:
    """Draws of jax.random."""

    def __init__(self):
        self.jax = pytest.importorskip("jax")

    def key(self):
        return self.jax.random.PRNGKey(next(KEYS))

    def uniform(self):
        return float(self.jax.random.uniform(self.key()))

    def token(self, row):
        return int(self.jax.random.categorical(self.key(), self.jax.numpy.log(self.jax.numpy.asarray(row))))


class Mlx:
    """Draws of MLX's own generator."""

    def __init__(self):
        self.mx = pytest.importorskip("mlx.core")

    def uniform(self):
        return float(self.mx.random.uniform())

    def token(self, row):
        return int(self.mx.random.categorical(self.mx.log(self.mx.array(np.asarray(row, np.float32)))))


@pytest.fixture(params=[Jax, Mlx])
def draws(request):
    made = request.param()
    made.uniform(), made.token([0.5, 0.5])  # the first calls compile
    return made


def rule(draws, generous=1.0):
    """Token verification with a library's draws; `generous` above 1 makes it lossy."""

    def verify(p, q, x):
        for i, t in enumerate(x):
            if not draws.uniform() * q[i, t] < p[i, t] * generous:
                return [*x[:i], draws.token(np.maximum(p[i] - q[i], 0))]
        return [*x, draws.token(p[-1])]

    return verify


@pytest.mark.slow
def test_a_right_rule_is_undecided_and_passes_on_samples(draws):
    report = audit.examine(rule(draws), runs=300, **SMALL)
    assert report.lossless is None, report
    assert "cannot be followed" in report.undecided
    options = {**SMALL, "vocab": 3, "depth": 2}
    assert audit.examine(rule(draws), statistical=True, runs=300, **options).lossless


@pytest.mark.slow
def test_a_lossy_rule_is_rejected(draws):
    assert audit.examine(rule(draws, 4.0), runs=2000, **SMALL).lossless is False


@pytest.mark.slow
def test_a_loop_is_tested_on_samples(draws):
    pytest.importorskip("torch")

    def generate(target, draft, prompt, length, gamma):
        tokens = []
        for _ in range(length):
            tokens.append(draws.token(target.row(tokens).softmax(-1).numpy()))
        return tokens

    report = audit.examine(audit.Loop(generate), runs=50, **SMALL)
    assert report.lossless is None
    assert report.sampled is not None
