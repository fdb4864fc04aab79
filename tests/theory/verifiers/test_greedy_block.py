"""Greedy block verification, and naive HSD which is the same rule."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.decode import decode
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared.modified_target import Modified
from tests.checks import assert_lossless, assert_same_law, completed, joint, mean_accepted, words
from tests.problems import TOY
from tests.strategies import instances

GREEDY, NAIVE = named("greedy-block"), named("hsd-naive")
FORGETFUL = replace(GREEDY, carry=None)
BOTH = pytest.mark.parametrize("verifier", [GREEDY, NAIVE], ids=lambda verifier: verifier.name)


@given(instances("chain"))
def test_acceptance_is_the_mass_that_the_joint_laws_share(instance):
    shared = (min(joint(p for p, _ in pairs), joint(q for _, q in pairs)) for pairs in words(instance))
    assert mean_accepted(instance, GREEDY) == sum(shared, ZERO)


@given(instances("chain"))
def test_never_fewer_than_block_verification(instance):
    assert mean_accepted(instance, GREEDY) >= mean_accepted(instance, named("block"))


@given(instances(Chain(3), vocab=2))
def test_naive_hsd_is_the_same_rule(instance):
    assert_same_law(instance, NAIVE, GREEDY)
    assert decode(instance, NAIVE, 2) == decode(instance, GREEDY, 2)


def test_on_the_toy_twelve_ninths_are_accepted():
    assert mean_accepted(TOY, GREEDY) == mean_accepted(TOY, NAIVE) == exact("12/9")


@BOTH
def test_three_iterations_on_the_toy(verifier):
    for iterations in (1, 2, 3):
        assert_lossless(TOY, verifier, iterations)


@BOTH
@settings(max_examples=8)
@given(instance=instances(Chain(3), vocab=2))
def test_three_iterations_of_any_chain(verifier, instance):
    assert_lossless(instance, verifier, 3)


def test_layers_stack_in_three_iterations():
    [seesaw] = [each for each in Scenarios(Chain(3), 2) if each.name.startswith("seesaw, falling")]
    after_two = {target for _, target in decode(seesaw, GREEDY, 2).states}
    assert any(isinstance(top, Modified) and isinstance(top.target, Modified) for top in after_two)
    assert_lossless(seesaw, GREEDY, 3)


def test_one_iteration_is_exact_only_with_the_target_it_leaves():
    left = decode(TOY, GREEDY, 1)
    assert left.first(3) == law_of(TOY.target, 3)
    words = Law((word, mass) for (word, _), mass in left.states.items())
    assert words.complete(TOY.target, 3) != law_of(TOY.target, 3)


@pytest.mark.parametrize("iterations", [1, 2])
def test_without_the_modified_target_it_is_biased(iterations):
    got, want = completed(TOY, FORGETFUL, iterations)
    assert got.total_variation(want) > 0


@given(instances(Chain(1)))
def test_one_drafted_token_leaves_the_target_as_it_is(instance):
    assert_same_law(instance, GREEDY, named("token"))
    assert {target for _, target in decode(instance, GREEDY, 2).states} == {instance.target}


def test_modified_rows_are_laws_and_only_between_start_and_end():
    targets = {target for _, target in decode(TOY, GREEDY, 1).states} - {TOY.target}
    [layer] = targets
    assert (layer.start, layer.end, layer.vocab) == (0, 2, 2)
    assert layer[()] is TOY.target[()]
    assert layer[(1, 0)] is TOY.target[(1, 0)]
    assert layer[(1,)] == (ZERO, exact(1))  # (4/9 - 1/9)+ against (2/9 - 2/9)+ below the token 1
