import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ONE
from draftproof.theory.verifier import ALL
from draftproof.theory.verifiers import VERIFIERS, named
from tests.checks import assert_lossless, emitted, everything, stops
from tests.problems import TOY
from tests.strategies import instances

STATELESS = [verifier for verifier in VERIFIERS.values() if verifier.carry is None]


def test_before_the_first_iteration_nothing_is_emitted():
    start = decode(TOY, named("block"), 0)
    assert start.states == {((), TOY.target): ONE}
    assert start.accepted == ()
    assert start.first(2) == law_of(TOY.target, 2)


@pytest.mark.parametrize("label", ALL)
@given(data=st.data())
def test_one_iteration_is_the_emission(label, data):
    instance = data.draw(instances(label))
    verifier = data.draw(st.sampled_from([v for v in VERIFIERS.values() if label in v.drafts]))
    gathered, decoded = emission(instance, verifier), decode(instance, verifier, 1)
    assert everything(decoded) == gathered.law()
    assert decoded.accepted == (gathered.expected_accepted,)


@given(instances(Chain(2), vocab=2), st.sampled_from([v for v in VERIFIERS.values() if "chain" in v.drafts]))
def test_masses_and_lengths_add_up(instance, verifier):
    decoded = decode(instance, verifier, 2)
    law = everything(decoded)
    assert law.total == 1
    assert sum(mass * len(word) for word, mass in law.items()) == sum(decoded.accepted) + 2
    assert all(2 <= len(word) <= 6 for word in law)


@given(instances(Chain(1), vocab=2))
def test_the_second_iteration_starts_after_the_words_of_the_first(instance):
    """Pr(first word, then second) = Pr(first) Pr(second | context first), summed over where they part."""
    block, twice = named("block"), []
    for word, mass in emitted(instance, block).items():
        for weight, _, node, row in stops(instance, block, word):
            twice += [((*node.prefix, x), mass * weight * share) for x, share in enumerate(row)]
    assert everything(decode(instance, block, 2)) == Law(twice)


@settings(max_examples=10)
@pytest.mark.parametrize("label", ["chain", "tree with replacement", "tree without replacement", "paths"])
@given(data=st.data())
def test_rules_without_state_stay_lossless_over_two_iterations(label, data):
    instance = data.draw(instances(label, vocab=2))
    verifier = data.draw(st.sampled_from([v for v in STATELESS if label in v.drafts and v.lossless]))
    assert_lossless(instance, verifier, 2)


@given(instances(Chain(2), vocab=2))
def test_the_first_tokens_are_the_marginal_of_more(instance):
    decoded = decode(instance, named("greedy-block"), 1)
    assert decoded.first(4).marginal(3) == decoded.first(3)
    assert decoded.first(0).total == 1


@settings(max_examples=10)
@given(instances(Chain(2), vocab=2), st.sampled_from([v for v in VERIFIERS.values() if "chain" in v.drafts]))
def test_words_that_are_long_enough_need_not_be_followed(instance, verifier):
    heard = []
    short = decode(instance, verifier, 2, 4, heard.append)
    assert short.first(4) == decode(instance, verifier, 2).first(4)
    assert max(len(word) for word, _ in short.states) <= 4
    assert heard == sorted(heard)
    assert 0 in heard
    assert max(heard) < 2


@pytest.mark.parametrize("name", ["greedy-block", "hsd-released", "token"])
@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_cut_has_the_law_of_what_is_not(name, depth):
    for instance in Randoms(Chain(depth), 2, 4, seed=5):
        length = depth + 2
        assert decode(instance, named(name), 2, length).first(length) == decode(
            instance, named(name), 2
        ).first(length)
