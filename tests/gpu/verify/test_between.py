"""What holds between batched verifiers: where two rules are one, and what equal models give."""
# ruff: noqa: E402

import pytest
from hypothesis import given

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.rounding import STEPS
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import named
from tests.gpu.verify.batches import Drawn, drawn


def rates(name, batch):
    verifier = named(name)
    drafts = batch.batch.map_rows(torch.Tensor.double)
    return torch.where(drafts.drawn, verifier.rates(drafts).accept, 0.0)[:, 1:]


@given(drawn(Tree.chain(3)))
def test_on_a_chain_traversal_is_block_verification(batch):
    assert torch.allclose(rates("traversal", batch), rates("block", batch), atol=1e-6)


@given(drawn(Tree.chain(3)))
def test_on_a_chain_recursive_rejection_is_token_verification(batch):
    for name in ("rrs", "specinfer"):
        assert torch.allclose(rates(name, batch), rates("token", batch), atol=1e-9)


@given(drawn(Tree.chain(1)))
def test_one_token_is_judged_alike_by_all_that_know_q(batch):
    for name in ("block", "rrs", "traversal"):
        assert torch.allclose(rates(name, batch), rates("token", batch), atol=1e-9)


@given(drawn(replacement=False))
def test_equal_models_accept_everything(batch):
    batch.proposal = batch.target[:, list(batch.tree.inner)].clone()
    fresh = Drawn(batch.tree, batch.target.shape[-1], len(batch.tokens), 3, holes=False)
    fresh.coins.clamp_(max=1 - STEPS * 2**-24)
    for name in ("rrs", "traversal"):
        levels = fresh.tree.levels[0][fresh.verified(named(name)).node]
        first = fresh.tree
        at, depth = 0, 0
        while (below := (first.parents[0, at + 1 :] == at).nonzero()).numel():
            at, depth = at + 1 + int(below[0]), depth + 1
        assert (levels >= depth).all()
