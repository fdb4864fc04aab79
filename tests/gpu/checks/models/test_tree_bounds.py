"""Estimates from sampled trees average to no less than the optima; on one level and on chains to them."""
# ruff: noqa: E402

import json

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings

from draftproof.gpu.checks.models.bounds import tree_odds
from draftproof.simulators.instances.files import parse
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.strategies import instances
from draftproof.simulators.laws.check import applies
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import full_information, stateless
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree as Planned
from draftproof.theory.instance import context_free
from draftproof.theory.shared.strata import inclusion
from draftproof.theory.transport.single_step import alpha, inclusion_bound
from draftproof.theory.values.chains import block
from draftproof.theory.verifiers import VERIFIERS
from tests.gpu.checks.models.averages import mean_odds, placed
from tests.problems import OPTIMA

UNEVEN, DEEP = (((), ()), ()), (((), ()), ((),))
TREES = [Planned(shape, replacement) for shape in (UNEVEN, DEEP) for replacement in (False, True)]


def nothing_exceeds(instance):
    """The optima and the exact E[tau] of every verifier are within the bounds."""
    by_level = mean_odds(instance)
    assert bool((by_level[0] <= by_level[1] + 1e-12).all())
    capped, whole = (float(odds.sum()) for odds in by_level)
    assert float(stateless(instance).lower) <= capped + 1e-9
    assert float(full_information(instance).value) <= whole + 1e-9
    for verifier in VERIFIERS.values():
        if verifier.lossless and applies(verifier, instance):
            most = whole if verifier.carry else capped
            assert float(emission(instance, verifier).expected_accepted) <= most + 1e-9


STRATA = [Stratified(shape) for shape in (((), (), ()), (((), ()), ((), ())), (((), (), ()), ((), (), ())))]


@pytest.mark.parametrize("scheme", [*TREES, Paths(2, 2), *STRATA], ids=str)
def test_no_verifier_exceeds_the_bounds(scheme):
    for instance in Randoms(scheme, 3, 4, seed=4):
        nothing_exceeds(instance)


@pytest.mark.parametrize("name", OPTIMA)
def test_known_optima_are_within_the_bounds(name):
    known = OPTIMA[name]["optimum"]
    bounds = [float(odds.sum()) for odds in mean_odds(parse(json.dumps(OPTIMA[name]["instance"])))]
    for bound, optimum in zip(bounds, (known["stateless"], known["full_information"]), strict=True):
        assert bound >= optimum - 1e-8
        assert bound <= optimum + 1e-8 or name in ("lopsided-v3-with", "two-paths-v3-without")


@pytest.mark.parametrize("label", ["tree without replacement", "tree with replacement", "paths"])
def test_no_verifier_exceeds_the_bounds_of_any_instance(label):
    @settings(max_examples=12, deadline=None)
    @given(instances(label))
    def check(instance):
        nothing_exceeds(instance)

    check()


@pytest.mark.parametrize("count", [2, 3])
def test_merged_paths_have_the_bounds_of_the_paths_that_were_drawn(count):
    for instance in Randoms(Paths(count, 2), 3, 3, seed=8):
        rows, weights = placed(instance)
        apart = tree_odds(rows.tree, rows.tree, rows.target, rows.proposal, rows.tokens)
        for together, odds in zip(mean_odds(instance), apart, strict=True):
            assert torch.allclose(together, weights @ odds, rtol=0, atol=1e-12)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_level_of_draws_has_its_optimum(k, replacement):
    for instance in Randoms(Planned(((),) * k, replacement), 4, 6, seed=2):
        want, _ = alpha(instance.target[()], instance.proposal[()], k, replacement)
        for odds in mean_odds(instance):
            assert float(odds.sum()) == pytest.approx(float(want), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_level_of_strata_has_at_most_the_inclusion_bound(k):
    for instance in Randoms(Stratified(((),) * k), 4, 8, seed=2):
        bound, whole = (float(odds.sum()) for odds in mean_odds(instance))
        most = float(inclusion_bound(instance.target[()], inclusion(instance.proposal[()], k)))
        assert bound == whole <= most + 1e-9


def test_two_tokens_of_different_strata_are_both_missed_now_and_then():
    """Of tokens 0 and 2, which have pi = 1/2 each, neither is drafted with 1/4; sum min(p, pi) = 1."""
    instance = context_free(["1/2", "0", "1/2", "0"], ["1/4"] * 4, Stratified(((), ())))
    assert [float(odds.sum()) for odds in mean_odds(instance)] == pytest.approx([0.75, 0.75], abs=1e-12)


def test_strata_of_other_places_are_found_out():
    """A bound from rows of which the second half of the tokens is in the wrong stratum is exceeded."""
    exceeded = 0
    for instance in Randoms(STRATA[1], 3, 6, seed=4):
        rows, weights = placed(instance)
        wrong = torch.zeros_like(rows.strata)
        odds, _ = tree_odds(rows.tree, rows.tree, rows.target, rows.q, rows.tokens, wrong)
        reached = float(emission(instance, VERIFIERS["lifted-priority"]).expected_accepted)
        exceeded += reached > float((weights @ odds).sum()) + 1e-9
    assert exceeded


def test_chains_have_block_verifications_and_block_transports_value():
    for instance in Randoms(Chain(3), 3, 6, seed=5):
        capped, whole = (float(odds.sum()) for odds in mean_odds(instance))
        assert capped == pytest.approx(float(block(instance)), abs=1e-9)
        assert whole == pytest.approx(float(full_information(instance).value), abs=1e-9)


@pytest.mark.parametrize("scheme", [Planned(DEEP), Paths(2, 2)], ids=str)
def test_validity_lowers_the_bound_on_trees_too(scheme):
    found = [mean_odds(instance) for instance in Randoms(scheme, 3, 4, seed=21)]
    assert sum(float((whole - capped).sum()) > 0.01 for capped, whole in found) == 2


@pytest.mark.parametrize("scheme", TREES, ids=str)
def test_no_word_counts_more_than_one(scheme):
    for instance in Randoms(scheme, 3, 2, seed=6):
        rows, _ = placed(instance)
        for odds in tree_odds(rows.tree, rows.tree, rows.target, rows.proposal, rows.tokens):
            words = torch.tensor([float(len(nodes)) for nodes in rows.tree.generations])
            assert bool(((odds >= 0) & (odds <= words + 1e-9)).all())
