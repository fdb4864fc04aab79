"""Monte Carlo agrees with the exact law; the test that says so can say no."""

from collections import Counter
from math import log

import numpy as np
import pytest

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.support.anytime import ERROR, Process
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import exact
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS, named
from tests.checks import emitted, everything
from tests.problems import SCHEMES, TOY, floats

RUNS = 2000


class Sampler:
    """The oracle that draws at random from rows of floats."""

    __slots__ = ("_random",)

    def __init__(self, rng: np.random.Generator):
        self._random = rng.random

    def choose(self, row: Row) -> int:
        left = self._random() * sum(row)  # a float row sums to 1 only up to rounding
        last = 0
        for token, mass in enumerate(row):
            if mass > 0:
                if left < mass:
                    return token
                left -= mass
                last = token
        return last

    def accept(self, probability: Number) -> bool:
        return self._random() < probability


def sample(
    instance: Instance, verifier: Verifier, runs: int, rng: np.random.Generator, iterations: int = 1
) -> Counter[Prefix]:
    """Counts how often each word was emitted in `runs` independent runs of `iterations` rounds."""
    oracle, given = Sampler(rng), floats(instance)
    return Counter(_run(given, verifier, oracle, iterations) for _ in range(runs))


def _run(instance: Instance, verifier: Verifier, oracle: Sampler, iterations: int) -> Prefix:
    word, target = Prefix(), instance.target
    for _ in range(iterations):
        draft = instance.draft.draw(oracle, instance.proposal, word)
        node, row = verifier.verify(oracle, draft, target)
        word = (*node.prefix, oracle.choose(row))
        if verifier.carry is not None:
            target = verifier.carry(target, instance.proposal, draft, node)
    return word


def rejected(law, counts, error=ERROR):
    """Whether counts are evidence against an exact law."""
    process = Process(len(law), error)
    for word, count in counts.items():
        for _ in range(count):
            process.update(word, float(law[word]))
    return process.log_e >= -log(error)


@pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=lambda each: each.name)
def test_samples_follow_the_exact_law(verifier):
    # Wrongly rejected with probability at most ERROR a case; the seed is fixed, so never by chance twice.
    for label in verifier.drafts:
        instance = Randoms(SCHEMES[label], 2, 3, seed=1)[2]
        counts = sample(instance, verifier, RUNS, np.random.default_rng(5))
        assert counts.total() == RUNS
        assert not rejected(emitted(instance, verifier), counts)


def test_decoding_over_iterations_follows_the_exact_law():
    greedy = named("greedy-block")
    counts = sample(TOY, greedy, RUNS, np.random.default_rng(6), iterations=2)
    assert not rejected(everything(decode(TOY, greedy, 2)), counts)


@pytest.mark.parametrize(("one", "other"), [("token", "block"), ("block", "hsd-released"), ("nss", "token")])
def test_the_law_of_another_rule_is_rejected(one, other):
    counts = sample(TOY, named(one), RUNS, np.random.default_rng(7))
    assert rejected(emitted(TOY, named(other)), counts)


def test_a_word_that_cannot_come_out_is_infinite_evidence():
    coin = Law({(0,): exact(1)})
    assert rejected(coin, {(1,): 1})
    assert not rejected(coin, {(0,): 10**4})
    assert not rejected(coin, {})


def test_false_alarms_are_as_rare_as_stated():
    # 400 sequences of 300 draws, looked at after every one: at error 1/20 about 20 may ever be rejected.
    law, alarms = (1 / 2, 1 / 3, 1 / 6), 0
    rng = np.random.default_rng(8)
    for _ in range(400):
        process = Process(3, error=1 / 20)
        for x in rng.choice(3, size=300, p=law).tolist():
            process.update(x, law[x])
        alarms += process.rejected
    assert alarms <= 35  # 20 expected at most; 35 has probability below 1e-3


def test_the_sampler_never_draws_what_has_no_mass():
    oracle = Sampler(np.random.default_rng(9))
    assert {oracle.choose((0.0, 0.3, 0.0, 0.7, 0.0)) for _ in range(200)} == {1, 3}
    assert not any(oracle.accept(0.0) for _ in range(200))
    assert all(oracle.accept(1.0) for _ in range(200))


class Edge:
    """A generator that always returns the largest uniform there is."""

    def random(self) -> float:
        return 1 - 2.0**-53


def test_the_last_uniform_before_one_stays_inside_the_support():
    oracle = Sampler(Edge())  # type: ignore[arg-type]
    assert oracle.choose((0.1, 0.2, 0.3, 0.4, 0.0)) == 3
    assert oracle.choose((1 / 3, 1 / 3, 1 / 3, 0.0)) == 2
