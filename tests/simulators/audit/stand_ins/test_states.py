"""States of global generators that are saved and restored, and copies of generators."""

import copy
import pickle
import random
from contextlib import contextmanager
from random import getstate, setstate

import numpy as np
import pytest

from draftproof.simulators import audit

SMALL = {"vocab": 2, "depth": 1}
AT_IMPORT = np.random.get_state(), random.getstate()


def token(p, q, x, uniform):
    """Token verification of one drafted token, by three uniforms in order."""
    draft, rest = x[0], np.maximum(p[0] - q[0], 0)
    if uniform() * q[0, draft] < p[0, draft]:
        return [draft, int(uniform() >= p[1, 0])]
    return [int(uniform() * rest.sum() >= rest[0])]


@contextmanager
def numpys(seed=0):
    state = np.random.get_state()
    np.random.seed(seed)
    yield
    np.random.set_state(state)


@contextmanager
def pythons(seed=0):
    state = getstate()
    random.seed(seed)
    yield
    setstate(state)


UNIFORMS = {
    "numpy's": lambda: np.random.random(),
    "numpy's rand": lambda: np.random.rand(),
    "python's": lambda: random.random(),
    "python's uniform": lambda: random.uniform(0, 1),
}
"""How a uniform is drawn; the functions are looked up when they are called, as code in modules does."""


@pytest.mark.parametrize("temporary", [numpys, pythons])
@pytest.mark.parametrize("name", UNIFORMS)
def test_a_temporary_seed_leaves_the_stream_as_it_was(temporary, name):
    def verify(p, q, x):
        with temporary():
            pass
        first = UNIFORMS[name]
        with temporary():
            pass
        return token(p, q, x, first)

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless, report


@pytest.mark.parametrize("temporary", [numpys, pythons])
@pytest.mark.parametrize("name", UNIFORMS)
def test_draws_under_a_temporary_seed_bias_nothing_after_it(temporary, name):
    def verify(p, q, x):
        with temporary():
            UNIFORMS[name]()
        return token(p, q, x, UNIFORMS[name])

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is not False, report  # undecided where what was drawn is constant


@pytest.mark.parametrize(("temporary", "name"), [(numpys, "numpy's rand"), (pythons, "python's")])
def test_coins_that_are_drawn_under_a_temporary_seed_are_constant(temporary, name):
    def verify(p, q, x):
        with temporary():
            return token(p, q, x, UNIFORMS[name])

    assert not audit.examine(verify, runs=0, **SMALL).lossless


@pytest.mark.parametrize("name", UNIFORMS)
def test_a_restored_state_gives_the_same_coins_again(name):
    def verify(p, q, x):
        of_numpy = name.startswith("numpy")
        state = np.random.get_state() if of_numpy else getstate()

        def again():  # one coin for every decision
            np.random.set_state(state) if of_numpy else setstate(state)
            return UNIFORMS[name]()

        return token(p, q, x, again)

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is False, report
    assert report.wrong is not None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_state_may_be_copied(copied):
    def verify(p, q, x):
        state = copied(np.random.get_state())
        np.random.random()
        np.random.set_state(state)
        return token(p, q, x, UNIFORMS["numpy's"])

    assert audit.examine(verify, runs=0, **SMALL).lossless


@pytest.mark.parametrize("which", [0, 1])
def test_a_state_that_was_saved_before_is_a_constant_seed(which):
    def verify(p, q, x):
        np.random.set_state(AT_IMPORT[0]) if which == 0 else setstate(AT_IMPORT[1])
        return token(p, q, x, [*UNIFORMS.values()][2 * which])

    assert not audit.examine(verify, runs=0, **SMALL).lossless


def test_a_state_from_an_earlier_call_is_a_constant_seed():
    kept = []

    def verify(p, q, x):
        kept.append(np.random.get_state())
        np.random.set_state(kept[0])
        return token(p, q, x, UNIFORMS["numpy's"])

    assert not audit.examine(verify, runs=0, **SMALL).lossless


OWN, OWN_RANDOM = np.random.default_rng(), random.Random()


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda rng: pickle.loads(pickle.dumps([rng]))],
)
@pytest.mark.parametrize("which", ["argument", "numpy's", "python's", "own", "own random"])
def test_a_copy_of_a_generator_is_undecided_with_its_reason(copied, which):
    def verify(p, q, x, rng):
        made = {"argument": rng, "own": OWN, "own random": OWN_RANDOM}
        if which == "numpy's":
            made[which] = np.random.RandomState(int(rng.integers(2**31)))
        elif which == "python's":
            made[which] = random.Random(int(rng.integers(2**31)))
        copied(made[which])
        return token(p, q, x, rng.random)

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is None, report
    assert "copies or pickles a generator" in report.undecided


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda u: copy.deepcopy([u])[0]])
def test_a_copied_coin_is_the_same_coin(copied):
    def verify(p, q, x, rng):
        return token(p, q, x, lambda: copied(rng.random()))

    assert audit.examine(verify, runs=0, **SMALL).lossless
