"""Estimates from sampled trees average to no less than block transport; on one level and on chains to it."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from gpu.draft import Tree
from gpu.exact.drafts import batch, every
from gpu.exact.noise import fits
from gpu.validate.tree_bounds import tree_odds
from gpu.verify import VERIFIERS
from simulators.enumerate import emission
from simulators.instances.randoms import Randoms
from simulators.optimum import full_information
from theory.drafts.chain import Chain
from theory.drafts.paths import Paths
from theory.drafts.tree import Tree as Planned
from theory.transport.single_step import alpha
from theory.verifiers import named

PAIR, UNEVEN, DEEP = ((), ()), (((), ()), ()), (((), ()), ((),))


def planned(scheme):
    if isinstance(scheme, Planned):
        return Tree.of_shape(scheme.shape, scheme.replacement)
    return Tree.paths(scheme.count, scheme.depth) if isinstance(scheme, Paths) else Tree.chain(scheme.depth)


def mean_bound(instance):
    """The average over all drafts, by level."""
    drafts = list(every(instance))
    rows = batch(drafts)
    weights = torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)
    odds = tree_odds(planned(instance.draft), rows.tree, rows.target, rows.proposal, rows.tokens)
    return (weights @ odds).tolist()


def optimum(instance):
    return float(full_information(instance).value)


@pytest.mark.parametrize(
    "scheme",
    [Planned(UNEVEN), Planned(UNEVEN, True), Planned(DEEP), Planned(DEEP, True)],
    ids=str,
)
def test_no_verifier_and_not_even_block_transport_exceeds_the_bound(scheme):
    for instance in Randoms(scheme, 3, 4, seed=4):
        bound = sum(mean_bound(instance))
        assert optimum(instance) <= bound + 1e-9
        for verifier in VERIFIERS.values():
            if fits(verifier, instance):
                assert float(emission(instance, named(verifier.name)).expected_accepted) <= bound + 1e-9


@pytest.mark.parametrize("count", [2, 3])
def test_merged_paths_have_the_bound_of_the_paths_that_were_drawn(count):
    for instance in Randoms(Chain(2), 3, 3, seed=8):
        drafts = list(every(instance))
        rows = batch(drafts)
        weights = torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)
        chosen = torch.cartesian_prod(*[torch.arange(len(drafts))] * count)
        paths = [rows.take(chosen[:, k]) for k in range(count)]
        tree, merged = Tree.merged(torch.stack([path.tokens for path in paths], 1))
        target = torch.cat([path.target[:, 1 if k else 0 :] for k, path in enumerate(paths)], 1)
        proposal = torch.cat([path.proposal[:, 1 if k else 0 :] for k, path in enumerate(paths)], 1)
        weight = weights[chosen].prod(1)
        odds = tree_odds(Tree.paths(count, 2), tree, target, proposal, merged)
        apart = tree_odds(
            Tree.paths(count, 2),
            Tree.paths(count, 2),
            target,
            proposal,
            torch.cat([p.tokens for p in paths], 1),
        )
        assert torch.allclose(weight @ odds, weight @ apart)
        scheme = Paths(count, 2)
        best = optimum(replace(instance, draft=scheme))
        assert best <= float((weight @ odds).sum()) + 1e-9


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_level_of_draws_has_its_optimum(k, replacement):
    for instance in Randoms(Planned(((),) * k, replacement), 4, 6, seed=2):
        (found,) = mean_bound(instance)
        want, _ = alpha(instance.target[()], instance.proposal[()], k, replacement)
        assert found == pytest.approx(float(want), abs=1e-9)


def test_chains_have_block_transports_value():
    for instance in Randoms(Chain(3), 3, 6, seed=5):
        assert sum(mean_bound(instance)) == pytest.approx(optimum(instance), abs=1e-9)
