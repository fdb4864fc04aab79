"""The law of the stop is what the coins do, and its mean that of the exact engine."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import batch, every
from draftproof.gpu.checks.against_exact.noise import EXACT, fits
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS
from draftproof.gpu.verify.verifier import level_law, stop_law
from draftproof.simulators.instances.suite import standard
from draftproof.simulators.laws.enumerate import emission

FAMILIES = [family for family in standard() if len(family)]


@pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)
def test_means_over_all_drafts_are_the_exact_engines(verifier):
    tried = 0
    for family in FAMILIES[:: max(1, len(FAMILIES) // 12)]:
        instance = family[len(family) // 3]
        if not fits(verifier, instance):
            continue
        drafts = list(every(instance))
        rows = batch(drafts)
        law = level_law(rows.tree, stop_law(verifier, rows.tree, verifier.rates(rows).accept, rows.drawn))
        weights = torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)
        assert torch.allclose(law.sum(1), torch.ones(len(drafts), dtype=torch.float64))
        mean = (weights @ law) @ torch.arange(law.shape[1], dtype=torch.float64)
        exact = EXACT[verifier.name]
        want = emission(instance, replace(exact, verify=verifier.exact or exact.verify)).expected_accepted
        assert float(mean) == pytest.approx(float(want), abs=1e-12)
        tried += 1
    assert tried


@pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)
def test_frequencies_of_decide_are_the_law(verifier):
    torch.manual_seed(0)
    tree = Tree([-1, 0, 0, 1, 1, 2, 3])
    accept = torch.rand(1, 7)
    drawn = torch.ones(1, 7, dtype=torch.bool)
    drawn[0, 5] = False
    B = 40_000
    node = verifier.decide(tree, accept.expand(B, -1), drawn.expand(B, -1), torch.rand(B, 6))
    seen = torch.bincount(node, minlength=7) / B
    law = stop_law(verifier, tree, accept, drawn)[0]
    assert (seen - law).abs().max() < 5 * (0.25 / B) ** 0.5


@pytest.mark.parametrize(("name", "law"), [("token", [0.5, 0.25, 0.25]), ("block", [0.25, 0.25, 0.5])])
def test_two_even_coins(name, law):
    half, drawn = torch.full((1, 3), 0.5), torch.ones(1, 3, dtype=torch.bool)
    assert stop_law(VERIFIERS[name], Tree.chain(2), half, drawn).tolist() == [law]
