"""Drafts of different lengths in plain torch: what was not drawn changes nothing and takes little work."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.checks.models.acceptance import Acceptance
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine import verdict
from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import named
from tests.gpu.small import PROMPTS, steps_of

LENGTHS, V, DRAWN = (0, 1, 3, 4), 90, Tree.drawn
SAMPLINGS = [Sampling(), Sampling(0.7, top_p=0.8), Sampling(top_k=5, top_p=0.9, min_p=0.05), Sampling(0.0)]
CASES = [("block", Tree.chain(4)), ("token", Tree.chain(4)), ("traversal", Tree.of_shape([[[]], [[]]]))]


def judged(name, tree, sampling, spoiled=False):
    """The outcome on drafts of these lengths; if they are `spoiled`, rows that need not be read are NaN."""
    random = torch.Generator().manual_seed(5)
    shape = len(LENGTHS), tree.size - 1
    logits = 2 * torch.randn(len(LENGTHS), tree.size, V, generator=random)
    own = 2 * torch.randn(len(LENGTHS), len(tree.inner), V, generator=random)
    tokens = torch.randint(V, shape, generator=random)
    tokens[torch.arange(shape[1]) >= torch.tensor(LENGTHS)[:, None]] = -1
    noise = torch.rand(len(LENGTHS), shape[1] + 1, generator=random, dtype=torch.float64)
    if spoiled:
        drawn = DRAWN(tree, tokens)
        asked = torch.zeros(own.shape[:2], dtype=torch.long)
        asked = asked.scatter_add(1, tree.drawn_from.expand(shape), drawn[:, 1:].long()) > 0
        logits, own = (
            rows.masked_fill(~read[..., None], torch.nan) for rows, read in ((logits, drawn), (own, asked))
        )
    draft = Draft(tree, tokens, logits=own)
    return verdict.judged(named(name), sampling, draft, logits, noise[:, 1:], noise[:, 0])


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize(("name", "tree"), CASES)
def test_rows_that_were_not_drawn_change_no_bit(name, tree, sampling, monkeypatch):
    clean, found = (judged(name, tree, sampling, spoiled) for spoiled in (False, True))
    assert not found.error.any()
    assert torch.equal(found.node, clean.node)
    assert torch.equal(found.token, clean.token)
    monkeypatch.setattr(Tree, "drawn", lambda self, tokens: torch.ones(len(tokens), self.size).bool())
    assert judged(name, tree, sampling, spoiled=True).error.any()


def test_top_p_sorts_the_rows_of_drawn_nodes_alone(monkeypatch):
    rows, seen = Sampling.rows, []
    monkeypatch.setattr(Sampling, "rows", lambda self, given: seen.append(given.shape) or rows(self, given))
    for sampling in SAMPLINGS[:2]:
        judged("block", Tree.chain(4), sampling)
    assert seen == [(4, 5, V), (sum(LENGTHS) + len(LENGTHS), V)]


def test_prompt_lookup_drafts_no_more_than_its_longest_chain():
    found = steps_of("token", "chain:4", "ngram", PROMPTS, sampling=Sampling(0.0), max_new_tokens=12)
    sizes = [step.draft.tree.size for step in found]
    assert len(set(sizes)) > 1
    for step, size in zip(found, sizes, strict=True):
        assert size - 1 == (step.draft.tokens >= 0).sum(1).max()
        assert step.logits.shape[1] == size


@pytest.mark.parametrize("verifier", ["block", "one-hot"])
def test_acceptance_is_predicted_for_drafts_of_every_length(verifier):
    steps = steps_of(verifier, "chain:4", "ngram", PROMPTS, max_new_tokens=24, ignore_end=True)
    found = Acceptance(named(verifier), structure("chain:4"))
    for step in steps:
        found.add(step)
    assert {1, 5} <= {step.draft.tree.size for step in steps}
    assert found.total.steps == sum(len(step.accepted) for step in steps)
    assert not found.problems
