import json

import pytest

from draftproof.simulators.instances.files import parse, spelled
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.numbers import text
from draftproof.theory.verifiers import VERIFIERS, named
from tests.problems import OPTIMA, VECTORS

INSTANCES = {name: parse(json.dumps(vector["instance"]), name) for name, vector in VECTORS.items()}
EXPECTED = [(name, verifier) for name, vector in VECTORS.items() for verifier in vector["expected"]]
WITH_OPTIMA = pytest.mark.parametrize("name", OPTIMA)
CHAINS = pytest.mark.parametrize("name", [name for name in INSTANCES if "chain" in name])


def rounded(number):
    return round(int(number.p) / int(number.q), 9)  # optimal values are given to nine places


def test_all_vectors_are_here():
    assert len(VECTORS) == 15 + 10
    assert len(EXPECTED) == 7 * 6 + 8 * 3 + 10 * 2


@pytest.mark.parametrize(("name", "verifier"), EXPECTED)
def test_law_distance_and_acceptance_are_those_expected(name, verifier):
    want = VECTORS[name]["expected"][verifier]
    got = emission(INSTANCES[name], named(verifier))
    verdict = judge(INSTANCES[name], named(verifier))
    assert {spelled(word): text(mass) for word, mass in got.law().items()} == want["law"]
    assert text(verdict.total_variation) == want["total_variation"]
    assert text(verdict.expected_accepted) == want["expected_accepted"]
    assert verdict.lossless is want["lossless"]


@WITH_OPTIMA
def test_no_lossless_rule_accepts_more_than_the_stateless_optimum(name):
    instance = INSTANCES[name]
    made_for_it = [each for each in VERIFIERS.values() if instance.draft.label in each.drafts]
    assert len(made_for_it) >= 5
    for verifier in made_for_it:
        if verifier.lossless and verifier.carry is None:
            accepted = emission(instance, verifier).expected_accepted
            assert rounded(accepted) <= VECTORS[name]["optimum"]["stateless"], verifier.name


@CHAINS
def test_block_verification_reaches_the_stateless_optimum(name):
    accepted = emission(INSTANCES[name], named("block")).expected_accepted
    assert rounded(accepted) == VECTORS[name]["optimum"]["stateless"]


@CHAINS
@pytest.mark.slow
def test_greedy_block_verification_reaches_the_full_information_optimum(name):
    accepted = emission(INSTANCES[name], named("greedy-block")).expected_accepted
    assert rounded(accepted) == VECTORS[name]["optimum"]["full_information"]
