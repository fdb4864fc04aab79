"""Bounds read off single drafts average to the exact optima; faulty verifiers are what they claim to be."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import batch, every
from draftproof.gpu.checks.models.acceptance import chain_odds, covered
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS, Drafts
from draftproof.gpu.verify.verifier import level_law, stop_law
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.transport.block import chain_optima
from draftproof.theory.verifiers import named
from tests.gpu.checks.against_exact.laws import rounded
from tests.gpu.lossy import LOSSY
from tests.mutants.rules import UNSCALED

CHAINS = Randoms(Chain(3), 3, 12, seed=5)


def drafts_of(instance):
    drafts = list(every(instance))
    return batch(drafts), torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)


@pytest.mark.parametrize("index", range(len(CHAINS)))
def test_chain_bounds_average_to_the_optima(index):
    instance = CHAINS[index]
    rows, weights = drafts_of(instance)
    for full, want in enumerate(reversed(chain_optima(instance.target, instance.proposal, 3))):
        odds = chain_odds(rows.target, rows.proposal, rows.tokens, not full)
        assert float(weights @ odds.sum(1)) == pytest.approx(float(want), abs=1e-9)


def test_what_a_deterministic_draft_covers_is_what_nss_accepts():
    tree = Tree([-1, 0, 0, 1, 1])
    torch.manual_seed(3)
    target = torch.softmax(torch.randn(6, 5, 7), -1)
    tokens = torch.tensor([[1, 2, 3, 4]]).expand(6, -1)
    drafts = Drafts(tree, target, None, tokens)
    for name in ("nss", "one-hot"):
        verifier = VERIFIERS[name]
        law = level_law(tree, stop_law(verifier, tree, verifier.rates(drafts).accept, drafts.drawn))
        tail = law.flip(1).cumsum(1).flip(1)[:, 1:]
        assert torch.allclose(tail, covered(tree, target, tokens), atol=1e-6)


def off(verifier, instance):
    return rounded(verifier, instance, torch.float64).own


FAULTS = {each.verifier.name: each.verifier for each in LOSSY}


@pytest.mark.parametrize(
    ("ours", "exact"),
    [
        (FAULTS["hsd-released"], named("hsd-released")),
        (FAULTS["unscaled-residual"], UNSCALED),
        (VERIFIERS["block"], named("block")),
        (VERIFIERS["token"], named("token")),
    ],
)
def test_total_variation_is_the_exact_engines(ours, exact):
    found = [float(off(ours, instance)) for instance in CHAINS]
    want = [float(emission(instance, exact).total_variation) for instance in CHAINS]
    assert found == pytest.approx(want, abs=1e-12)
    assert (max(found) > 1e-6) == (ours.name in FAULTS)


@pytest.mark.parametrize("name", [each.verifier.name for each in LOSSY if each.faint])
def test_faint_faults_lose_the_law(name):
    assert max(float(off(FAULTS[name], instance)) for instance in CHAINS) > 1e-3


def test_no_faulty_verifier_is_registered():
    assert not {each.verifier.name for each in LOSSY} & set(VERIFIERS)


@pytest.mark.parametrize(("ours", "exact"), [("hsd-released", "hsd-released"), ("typical", "typical")])
def test_faulty_verifiers_accept_what_the_exact_ones_accept(ours, exact):
    verifier = next(each.verifier for each in LOSSY if each.verifier.name == ours)
    for instance in CHAINS:
        rows, weights = drafts_of(instance)
        law = level_law(rows.tree, stop_law(verifier, rows.tree, verifier.rates(rows).accept, rows.drawn))
        mean = (weights @ law) @ torch.arange(4, dtype=torch.float64)
        want = emission(instance, named(exact)).expected_accepted
        assert float(mean) == pytest.approx(float(want), abs=1e-9)
