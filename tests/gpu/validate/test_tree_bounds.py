"""Estimates from sampled trees average to no less than the optima; on one level and on chains to them."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings

from gpu.draft import Tree
from gpu.exact.drafts import Batch, every
from gpu.validate.tree_bounds import tree_odds
from simulators.check import applies
from simulators.enumerate import emission
from simulators.instances.randoms import Randoms
from simulators.optimum import full_information, stateless
from simulators.strategies import instances
from theory.closed_forms.chains import block
from theory.drafts.chain import Chain
from theory.drafts.paths import Paths
from theory.drafts.tree import Tree as Planned
from theory.transport.single_step import alpha
from theory.verifiers import VERIFIERS

UNEVEN, DEEP = (((), ()), ()), (((), ()), ((),))
TREES = [Planned(shape, replacement) for shape in (UNEVEN, DEEP) for replacement in (False, True)]


def planned(scheme):
    if isinstance(scheme, Paths):
        return Tree.paths(scheme.count, scheme.depth)
    return (
        Tree.chain(scheme.depth)
        if isinstance(scheme, Chain)
        else Tree.of_shape(scheme.shape, scheme.replacement)
    )


def drafts(instance):
    """All drafts in the places of the planned tree, -1 where q ran out of tokens, and their probabilities."""
    tree, found = planned(instance.draft), list(every(instance))
    parents, V = tree.parents[0].tolist(), instance.vocab
    target, proposal, tokens = [], [], []
    for each in found:
        nodes = [each.draft.root]
        for i in range(1, tree.size):
            above, rank = nodes[parents[i]], parents[1:i].count(parents[i])
            nodes.append(above.children[rank] if above and rank < len(above.children) else None)
        tokens.append([node.token if node else -1 for node in nodes[1:]])
        for table, at, rows in (
            (instance.target, nodes, target),
            (instance.proposal, [nodes[i] for i in tree.inner], proposal),
        ):
            rows.append(
                [[float(mass) for mass in table[node.prefix]] if node else [1 / V] * V for node in at]
            )
    rows = (torch.tensor(rows, dtype=torch.float64) for rows in (target, proposal))
    weights = torch.tensor([float(each.weight) for each in found], dtype=torch.float64)
    return Batch(tree, *rows, torch.tensor(tokens)), weights


def paths(instance, merge):
    """All K paths of an instance side by side, or merged: (tree, tensors, probabilities)."""
    count, depth = instance.draft.count, instance.draft.depth
    rows, weights = drafts(replace(instance, draft=Chain(depth)))
    chosen = torch.cartesian_prod(*[torch.arange(len(weights))] * count).view(-1, count)
    each = [rows.take(chosen[:, k]) for k in range(count)]
    target = torch.cat([path.target[:, 1 if k else 0 :] for k, path in enumerate(each)], 1)
    proposal = torch.cat([path.proposal[:, 1 if k else 0 :] for k, path in enumerate(each)], 1)
    tokens = torch.stack([path.tokens for path in each], 1)
    tree, tokens = Tree.merged(tokens) if merge else (planned(instance.draft), tokens.flatten(1))
    return tree, (target, proposal, tokens), weights[chosen].prod(1)


def mean_bounds(instance, merge=True):
    """The averages over all drafts, by level: stateless, full information."""
    if isinstance(instance.draft, Paths):
        tree, given, weights = paths(instance, merge)
        odds = tree_odds(planned(instance.draft), tree, *given)
    else:
        rows, weights = drafts(instance)
        odds = tree_odds(rows.tree, rows.tree, rows.target, rows.proposal, rows.tokens)
    return [(weights @ each).tolist() for each in odds]


def nothing_exceeds(instance):
    """The optima and the exact E[tau] of every verifier are within the bounds."""
    by_level = mean_bounds(instance)
    assert all(some <= more + 1e-12 for some, more in zip(*by_level, strict=True))
    capped, whole = map(sum, by_level)
    assert float(stateless(instance).lower) <= capped + 1e-9
    assert float(full_information(instance).value) <= whole + 1e-9
    for verifier in VERIFIERS.values():
        if verifier.lossless and applies(verifier, instance):
            most = whole if verifier.carry else capped
            assert float(emission(instance, verifier).expected_accepted) <= most + 1e-9


@pytest.mark.parametrize("scheme", [*TREES, Paths(2, 2)], ids=str)
def test_no_verifier_exceeds_the_bounds(scheme):
    for instance in Randoms(scheme, 3, 4, seed=4):
        nothing_exceeds(instance)


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
        for merged, apart in zip(mean_bounds(instance), mean_bounds(instance, merge=False), strict=True):
            assert merged == pytest.approx(apart, abs=1e-12)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_level_of_draws_has_its_optimum(k, replacement):
    for instance in Randoms(Planned(((),) * k, replacement), 4, 6, seed=2):
        want, _ = alpha(instance.target[()], instance.proposal[()], k, replacement)
        for (found,) in mean_bounds(instance):
            assert found == pytest.approx(float(want), abs=1e-9)


def test_chains_have_block_verifications_and_block_transports_value():
    for instance in Randoms(Chain(3), 3, 6, seed=5):
        capped, whole = map(sum, mean_bounds(instance))
        assert capped == pytest.approx(float(block(instance)), abs=1e-9)
        assert whole == pytest.approx(float(full_information(instance).value), abs=1e-9)


@pytest.mark.parametrize("scheme", [Planned(DEEP), Paths(2, 2)], ids=str)
def test_validity_lowers_the_bound_on_trees_too(scheme):
    found = [map(sum, mean_bounds(instance)) for instance in Randoms(scheme, 3, 4, seed=4)]
    assert sum(whole - capped > 0.01 for capped, whole in found) == 2


@pytest.mark.parametrize("scheme", TREES, ids=str)
def test_no_word_counts_more_than_one(scheme):
    for instance in Randoms(scheme, 3, 2, seed=6):
        rows, _ = drafts(instance)
        for odds in tree_odds(rows.tree, rows.tree, rows.target, rows.proposal, rows.tokens):
            words = torch.tensor([float(len(nodes)) for nodes in rows.tree.generations])
            assert bool(((odds >= 0) & (odds <= words + 1e-9)).all())
