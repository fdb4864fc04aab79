"""What holds for every batched verifier."""
# ruff: noqa: E402

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS, Batch, named
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import VERIFIERS as EXACT
from tests.gpu.logits import emitted
from tests.gpu.verify.batches import ONE_BELOW, Drawn, drawn

everyone = pytest.mark.parametrize("verifier", VERIFIERS.values(), ids=VERIFIERS)


def test_names_are_those_of_the_exact_verifiers():
    assert set(VERIFIERS) <= set(EXACT)
    names = {"token", "block", "rrs", "specinfer", "traversal"}
    assert names | {"one-hot", "nss"} <= set(VERIFIERS)
    assert named("rrs").drafts == ("chain", "tree without replacement")
    with pytest.raises(BadInput, match="no GPU verifier"):
        named("typical")


@everyone
@given(batch=drawn())
def test_never_an_impossible_token(verifier, batch):
    if not verifier.fits(batch.tree):
        return
    out = batch.verified(verifier)
    V = batch.target.shape[-1]
    there = batch.tree.drawn(batch.tokens)
    assert out.error.tolist() == [0] * len(out.error)
    for b, (node, token) in enumerate(zip(out.node.tolist(), out.token.tolist(), strict=True)):
        assert there[b, node]
        assert 0 <= token < V
        assert batch.target[b, node, token] > 0
        word = [x for x in emitted(out, batch.tree, batch.tokens)[b].tolist() if x >= 0]
        path = [node]
        while path[-1]:
            path.append(int(batch.tree.parents[0, path[-1]]))
        assert word == [*(int(batch.tokens[b, i - 1]) for i in path[-2::-1]), token]
        for above, below in zip(path[::-1], path[-2::-1], strict=False):
            assert batch.target[b, above, batch.tokens[b, below - 1]] > 0


@everyone
@given(batch=drawn())
def test_a_tree_by_row_decides_as_the_shared_tree(verifier, batch):
    if not verifier.fits(batch.tree) or not len(batch.tokens) or batch.tree.is_chain:
        return
    if verifier.name == "lifted-optimal" and any(batch.tree.in_turn):
        return  # by row the shape may depend on what was drawn, so it decides nothing
    given = batch.tree.parents.expand(len(batch.tokens), -1)
    by_row = Tree(given, replacement=batch.tree.replacement)
    one, two = batch.verified(verifier), verifier.verify(replace(batch.batch, tree=by_row))
    assert torch.equal(one.node, two.node)
    assert torch.equal(one.token, two.token)


@everyone
@given(batch=drawn(Tree.chain(4)), length=st.integers(0, 4))
def test_a_ragged_chain_decides_as_the_shorter_one(verifier, batch, length):
    batch.tokens[:, length:] = -1
    target, proposal, tokens = batch.target, batch.proposal, batch.tokens
    short = verifier.verify(
        Batch(
            Tree.chain(length),
            target[:, : length + 1],
            proposal[:, :length],
            tokens[:, :length],
            batch.coins[:, :length],
            batch.extra,
        )
    )
    garbage = torch.full_like(target[:, length + 1 :], torch.nan)
    padded = verifier.verify(
        replace(
            batch.batch,
            target=torch.cat((target[:, : length + 1], garbage), 1),
            proposal=torch.cat((proposal[:, :length], garbage[:, : 4 - length]), 1),
        )
    )
    assert torch.equal(short.node, padded.node)
    assert torch.equal(short.token, padded.token)
    assert not padded.error.any()


@everyone
@given(batch=drawn(), length=st.integers(0, 4))
def test_rows_of_nodes_that_were_not_drawn_change_nothing(verifier, batch, length):
    if not verifier.fits(batch.tree):
        return
    tree, tokens = batch.tree, batch.tokens
    tokens[:, length:] = -1
    clean = verifier.verify(batch.batch)
    there = tree.drawn(tokens)
    target = batch.target.masked_fill(~there[..., None], torch.nan)
    asked = torch.zeros(batch.proposal.shape[:2], dtype=torch.long)
    if asked.shape[1]:
        asked = asked.scatter_add(1, tree.drawn_from.expand(len(tokens), -1), there[:, 1:].long())
    proposal = batch.proposal.masked_fill(asked[..., None] == 0, torch.nan)
    found = verifier.verify(replace(batch.batch, target=target, proposal=proposal))
    assert torch.equal(found.node, clean.node)
    assert torch.equal(found.token, clean.token)
    assert not found.error.any()


@everyone
def test_bfloat16_rows_are_widened_and_renormalised(verifier):
    low = Drawn(Tree.chain(3), 6, 64, 7).batch.map_rows(torch.Tensor.bfloat16)
    high = low.map_rows(lambda rows: rows.float() / rows.float().sum(-1, keepdim=True))
    one, two = verifier.verify(low), verifier.verify(high)
    assert torch.equal(one.node, two.node)
    assert torch.equal(one.token, two.token)
    assert not one.error.any()


@everyone
def test_the_ends_of_the_noise(verifier):
    drafts = Drawn(Tree.chain(3), 5, 50, 4).batch
    target, tokens = drafts.target, drafts.tokens
    for coin in (0.0, ONE_BELOW, 1.0):
        for extra in (0.0, ONE_BELOW, 1.0):
            noise = torch.full(tokens.shape, coin), torch.full((len(tokens),), extra)
            out = verifier.verify(drafts.with_noise(*noise))
            assert not out.error.any()
            assert (target[torch.arange(50), out.node, out.token] > 0).all()
            if coin == 1.0:
                below = [
                    torch.full(tokens.shape, ONE_BELOW),
                    torch.full((len(tokens),), min(extra, ONE_BELOW)),
                ]
                same = verifier.verify(drafts.with_noise(*below))
                assert torch.equal(out.node, same.node)
