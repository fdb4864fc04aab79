"""float32 decides as float64 does, at real vocabulary sizes."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact import large  # noqa: E402
from draftproof.gpu.checks.against_exact.large import closeness  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, Drafts, Rates, recursive  # noqa: E402


def agree(vocab: int, seed: int = 0) -> None:
    found = list(closeness(vocab, seed=seed))
    assert {each.verifier for each in found} == set(VERIFIERS)
    assert {each.logits for each in found} == set(large.KINDS)
    for each in found:
        assert each.wrong == 0, each
        assert each.of_margin <= 1, each
        assert each.row < 1e-3, each
    assert sum(each.rows for each in found) > 4 * len(found)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 0, 1, 2, 4, 5])  # 3 has rates that differ where nothing arrives
def test_a_small_vocabulary(monkeypatch, seed):
    monkeypatch.setattr(large, "KINDS", ("near-equal", "adversarial", "peaked"))
    agree(500, seed)


def test_rates_that_are_wrong_where_verification_arrives_are_noticed():
    block = VERIFIERS["block"]

    def rounded(drafts):
        rates, single = block.rates(drafts), drafts.target.dtype == torch.float32
        return Rates(rates.accept * (0.999 if single else 1), rates.cut)

    (found,) = closeness(500, seed=1, verifiers=[replace(block, rates=rounded)], cases=1)
    assert found.of_margin > 1


def test_a_wrong_decision_is_said_with_its_case_node_rates_and_margin():
    block = VERIFIERS["block"]

    class Deaf(type(block)):
        def decide(self, tree, accept, drawn, coins):
            return super().decide(tree, accept * 0.9, drawn, coins)

    (found,) = closeness(500, seed=1, verifiers=[Deaf(**vars(block))], cases=1)
    assert found.wrong > 0
    assert found.case == "block on a chain, random logits, V = 500"
    assert found.first.startswith("node ")
    assert "margin" in found.first


@pytest.mark.parametrize("off", [5e-6, -5e-6])
@pytest.mark.sampled(2, long=True)
def test_a_softmax_whose_sum_is_off_is_within_the_margin(off, monkeypatch):
    """As torch's on some CPUs at V = 32,768: all entries of a row are off by one factor."""
    right = large.PLAIN.rows

    def summed(logits):
        return right(logits) * (1 + off if logits.dtype == torch.float32 else 1)

    monkeypatch.setattr(large, "PLAIN", SimpleNamespace(rows=summed))
    rules = [VERIFIERS[name] for name in ("nss", "block", "traversal", "lifted-optimal")]
    for each in closeness(500, verifiers=rules, cases=4):
        assert each.wrong == 0, each
        assert each.of_margin <= 1, each


def test_rows_that_are_wrong_where_verification_stops_are_noticed():
    block = VERIFIERS["block"]

    def unscaled(drafts):
        rates = block.rates(drafts)
        single = drafts.target.dtype == torch.float32
        return Rates(rates.accept, (rates.cut > 0).to(rates.cut)) if single else rates

    (found,) = closeness(500, seed=1, verifiers=[replace(block, rates=unscaled)], cases=1)
    assert found.wrong == 0
    assert found.row > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "vocab", [32_768, *(pytest.param(V, marks=pytest.mark.long) for V in (128_256, 262_144))]
)
def test_a_real_vocabulary(vocab):
    agree(vocab)


def test_what_siblings_leave_is_summed_and_does_not_cancel():
    q = torch.softmax(torch.tensor([[[30.0, 3.0, 2.0, 1.0]]]), -1)
    drafts = Drafts(Tree([-1, 0, 0]), q, q, torch.tensor([[0, 1]]))
    _, left = recursive._left(drafts, q, torch.tensor([2]))
    want = torch.softmax(torch.tensor([30.0, 3.0, 2.0, 1.0], dtype=torch.float64), -1)[1:].sum()
    assert abs(float(left) / float(want) - 1) < 1e-5
