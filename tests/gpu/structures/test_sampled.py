"""Fixed trees are drawn from the rows they hand over, in drawing order."""
# ruff: noqa: E402

import itertools

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.graphs import Recorder
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import structure

ROWS = torch.tensor([0.5, 0.3, 0.2])


class Same:
    """A session whose every row is the same."""

    recorder = Recorder(torch.device("cpu"))

    def __init__(self, batch, row=ROWS):
        self.batch, self.logits = batch, row.log()

    def root(self):
        return self.logits.expand(self.batch, -1)

    def extend(self, tokens, level):
        assert level.sees.shape[1] == tokens.shape[1] == level.above.shape[1]
        return self.logits.expand(self.batch, tokens.shape[1], -1)


def grown(spelling, batch=60_000, row=ROWS):
    shape = structure(spelling)
    uniforms = torch.rand(batch, shape.size - 1, generator=torch.Generator().manual_seed(0))
    return shape, shape.grow(Same(batch, row), Sampling(), uniforms)


def frequencies(tokens):
    words, counts = tokens.unique(dim=0, return_counts=True)
    return {
        tuple(word): count / len(tokens) for word, count in zip(words.tolist(), counts.tolist(), strict=True)
    }


@pytest.mark.parametrize("spelling", ["chain:2", "tree+:2x1", "paths+:2x1"])
def test_tokens_drawn_with_replacement_are_independent(spelling):
    _, draft = grown(spelling)
    found = frequencies(draft.tokens)
    for word in itertools.product(range(3), repeat=2):
        assert found[word] == pytest.approx(float(ROWS[list(word)].prod()), abs=5 * (0.25 / 60_000) ** 0.5)


def test_siblings_without_replacement_follow_successive_draws():
    _, draft = grown("tree:2x1")
    found = frequencies(draft.tokens)
    assert set(found) == set(itertools.permutations(range(3), 2))
    for a, b in found:
        want = float(ROWS[a] * ROWS[b] / (1 - ROWS[a]))
        assert found[a, b] == pytest.approx(want, abs=5 * (0.25 / 60_000) ** 0.5)


def test_where_the_support_runs_out_nothing_is_drawn_nor_below():
    shape, draft = grown("tree:[[[]],[[]],[[]]]", batch=8, row=torch.tensor([0.5, 0.5, 0.0]))
    assert shape.size == 7
    assert (draft.tokens[:, [2, 5]] == -1).all()
    assert sorted(draft.tokens[0, :2].tolist()) == [0, 1]
    assert torch.allclose(draft.proposal.sum(-1), torch.ones(8, 4))


def test_paths_are_merged_by_prefix():
    _, draft = grown("paths:2x2", batch=64)
    assert not draft.tree.replacement
    for row, tokens in enumerate(draft.tokens.tolist()):
        parents = draft.tree.parents[row].tolist()
        words = {(parents[i], token) for i, token in enumerate(tokens, 1) if token >= 0}
        assert len(words) == sum(token >= 0 for token in tokens)


@pytest.mark.parametrize("spelling", ["tree:eagle", "tree:2x3", "paths:3x2", "tree:[[[],[]],[[]],[]]"])
def test_every_inner_node_has_its_row_and_its_place(spelling):
    shape, draft = grown(spelling, batch=2)
    inner = list(shape.tree.inner)
    assert draft.proposal.shape[1] == len(inner)
    assert sorted(draft.places[0, inner].tolist()) == list(range(len(inner)))
    for stage in shape.stages:
        assert draft.places[0, stage.nodes].tolist() == [
            stage.level.first + k for k in range(len(stage.nodes))
        ]


def test_eagles_sparse_tree_has_25_tokens():
    shape = structure("tree:eagle")
    assert (shape.size, shape.depth) == (26, 5)
