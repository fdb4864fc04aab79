"""Saved states, copies and seeds of generators."""

import copy
import pickle
import random
from random import getstate

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain

SMALL = {"instances": [scenario(name, Chain(1), 2) for name in ("toy", "reversed")], "smallest": False}


def token(p, q, x, uniform):
    """Token verification of one drafted token, by three uniforms in order."""
    draft, rest = x[0], np.maximum(p[0] - q[0], 0)
    if uniform() * q[0, draft] < p[0, draft]:
        return [draft, int(uniform() >= p[1, 0])]
    return [int(uniform() * rest.sum() >= rest[0])]


UNIFORMS = {
    "numpy's": lambda: np.random.random(),
    "numpy's rand": lambda: np.random.rand(),
    "python's": lambda: random.random(),
    "python's uniform": lambda: random.uniform(0, 1),
}
"""How a uniform is drawn; the functions are looked up when they are called, as code in modules does."""


@pytest.mark.parametrize("name", ["numpy's", "python's"])
def test_a_state_that_is_saved_is_undecided_with_its_reason(name):
    def verify(p, q, x):
        np.random.get_state() if name == "numpy's" else getstate()
        return token(p, q, x, UNIFORMS[name])

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is None, report
    assert "state cannot be enumerated" in report.undecided


OWN, OWN_RANDOM = np.random.default_rng(), random.Random()


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, pickle.dumps, lambda rng: pickle.loads(pickle.dumps([rng]))]
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


def drawn_seed():
    return random.randrange(2**31)


OWN_STATE = np.random.RandomState(5)


def seeded_again(p, q, x, rng):
    k = drawn_seed()

    def again():
        OWN_STATE.seed(k)
        return OWN_STATE.random_sample()

    return token(p, q, x, again)


def global_and_object(p, q, x, rng):  # of the same seed: the same numbers
    k = drawn_seed()
    np.random.seed(k)
    draws = [np.random.random_sample, np.random.RandomState(k).random_sample]
    return token(p, q, x, lambda: draws.pop()())


def list_and_number(p, q, x, rng):
    k = drawn_seed()
    draws = [np.random.default_rng(k).random, np.random.default_rng(np.random.SeedSequence([k])).random]
    return token(p, q, x, lambda: draws.pop()())


def seeded_at_the_end(p, q, x, rng):
    word = token(p, q, x, random.random)
    random.seed(0)
    return word


def after_an_integer(p, q, x, rng):
    assert int(rng.integers(2**40)) >= 0
    return token(p, q, x, np.random.default_rng(0).random)


@pytest.mark.parametrize(
    "verify", [seeded_again, global_and_object, list_and_number, seeded_at_the_end, after_an_integer]
)
@pytest.mark.sampled(3)
def test_coins_that_come_again_are_found(verify):
    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is False, report


def seed_and_step(p, q, x, rng):
    k, steps = drawn_seed(), iter(range(9))
    return token(p, q, x, lambda: np.random.default_rng([k, next(steps)]).random())


def seed_plus_step(p, q, x, rng):
    k, steps = drawn_seed(), iter(range(9))
    return token(p, q, x, lambda: np.random.default_rng(k + next(steps)).random())


def seed_in_a_text(p, q, x, rng):
    random.seed(f"abc{drawn_seed()}")
    return token(p, q, x, random.random)


def narrow_seed(p, q, x, rng):
    return token(p, q, x, np.random.default_rng(int(rng.integers(20)) + 1).random)


def children(p, q, x, rng):
    made = [np.random.default_rng(each).random for each in np.random.SeedSequence(drawn_seed()).spawn(2)]
    made.append(rng.random)
    return token(p, q, x, lambda: made.pop()())


def two_seeds_of_coins(p, q, x, rng):
    draws = [random.Random(random.random()).random for _ in range(3)]
    return token(p, q, x, lambda: draws.pop()())


def two_algorithms(p, q, x, rng):
    k = drawn_seed()
    draws = [np.random.default_rng(k).random, np.random.RandomState(k).random_sample]
    return token(p, q, x, lambda: draws.pop()())


@pytest.mark.parametrize(
    "verify",
    [
        seed_and_step,
        seed_plus_step,
        seed_in_a_text,
        narrow_seed,
        children,
        two_seeds_of_coins,
        two_algorithms,
    ],
)
@pytest.mark.sampled(3)
def test_a_seed_made_of_a_drawn_number_is_no_constant(verify):
    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless, report


@pytest.mark.parametrize("use", ["exponential", "integers", "float32"])
def test_two_functions_on_one_state_are_undecided(use):
    second = {
        "exponential": lambda g: float(g.exponential() < 1),
        "integers": lambda g: int(g.integers(8)) / 8,
        "float32": lambda g: g.random(dtype=np.float32),
    }[use]

    def verify(p, q, x):
        k, draws = drawn_seed(), [second, lambda g: g.random()]
        return token(p, q, x, lambda: draws.pop()(np.random.default_rng(k)))

    report = audit.examine(verify, runs=0, **SMALL)
    assert report.lossless is None, report
    assert "from the same state" in report.undecided


@pytest.mark.parametrize(
    "made",
    [
        lambda: np.random.Generator(np.random.PCG64(0)).random,
        lambda: np.random.default_rng(np.random.PCG64(0)).random,
        lambda: np.random.RandomState(np.random.MT19937(0)).random_sample,
    ],
)
def test_a_bit_generator_is_undecided(made):
    report = audit.examine(lambda p, q, x: token(p, q, x, made()), runs=0, **SMALL)
    assert report.lossless is None, report
    assert "bit generator" in report.undecided


def test_generators_of_a_module_are_instances_of_their_classes():
    def verify(p, q, x):
        assert isinstance(OWN, np.random.Generator)
        assert isinstance(OWN_STATE, np.random.RandomState)
        assert isinstance(OWN_RANDOM, random.Random)
        return token(p, q, x, OWN.random)

    assert audit.examine(verify, runs=0, **SMALL).lossless


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda u: copy.deepcopy([u])[0]])
def test_a_copied_coin_is_the_same_coin(copied):
    def verify(p, q, x, rng):
        return token(p, q, x, lambda: copied(rng.random()))

    assert audit.examine(verify, runs=0, **SMALL).lossless
