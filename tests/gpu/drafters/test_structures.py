"""Fixed trees are drawn from the rows they return, in drawing order; top-k trees hold the likeliest nodes."""
# ruff: noqa: E402

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.sampling.rows import Sampling

ROWS = torch.tensor([0.5, 0.3, 0.2])
V = 4


class Same:
    """A session whose every row is the same."""

    def __init__(self, batch, row=ROWS):
        self.batch, self.logits = batch, row.log()

    def root(self):
        return self.logits.expand(self.batch, -1)

    def extend(self, tokens, level):
        assert tokens.shape[1] == level.above.shape[1]
        assert level.sees is None or level.sees.shape[1] == tokens.shape[1]
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


class Words:
    """A session whose rows depend on the whole word; it checks that it is asked about real nodes."""

    def __init__(self, seed):
        self.seed, self.words, self.rows = seed, None, {}

    def row(self, word):
        generator = torch.Generator().manual_seed(hash((self.seed, *word)) % 2**31)
        return self.rows.setdefault(word, torch.randn(V, generator=generator) * 2)

    def root(self):
        self.words = [[()]]
        return self.row(())[None]

    def extend(self, tokens, level):
        words = [
            (*self.words[0][up], token)
            for up, token in zip(level.above[0].tolist(), tokens[0].tolist(), strict=True)
        ]
        assert {len(word) for word in words} == {level.depth}
        assert len(set(words)) == len(words)
        assert level.sees[0].sum(-1).tolist() == [level.depth + 2] * len(words)
        self.words = [words]
        return torch.stack([self.row(word) for word in words])[None]

    def chance(self, word):
        steps = (self.row(word[:i]).log_softmax(-1)[token].item() for i, token in enumerate(word))
        return math.fsum(steps)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("depth", "most"), [(1, 3), (2, 7), (3, 12)])
def test_nodes_are_the_likeliest_of_all_words(seed, depth, most):
    session = Words(seed)
    draft = structure(f"top-k:64x{depth}x{most}").grow(session, Sampling(), torch.empty(1, most))
    parents, tokens = draft.tree.parents[0].tolist(), draft.tokens[0].tolist()
    words = [()]
    for node, token in enumerate(tokens, 1):
        words.append((*words[parents[node]], token))
    every = [word for d in range(1, depth + 1) for word in itertools.product(range(V), repeat=d)]
    likeliest = sorted(every, key=session.chance, reverse=True)[:most]
    assert set(words[1:]) == set(likeliest)
    for a, b in itertools.pairwise(range(1, len(words))):
        if parents[a] == parents[b]:
            assert session.chance(words[a]) >= session.chance(words[b])


@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_tree_extends_the_likeliest_of_each_depth(seed):
    session = Words(seed)
    draft = structure("top-k:2x3x5").grow(session, Sampling(), torch.empty(1, 5))
    again = structure("top-k:2x3x5").grow(Words(seed), Sampling(0.0), torch.rand(1, 5))
    assert draft.tokens.tolist() == again.tokens.tolist()
    assert draft.tree.parents.tolist() == again.tree.parents.tolist()
    assert draft.proposal is None


def test_sizes_of_spelled_structures():
    assert (structure("chain:4").size, structure("tree:2x3").size, structure("tree:eagle").depth) == (
        5,
        15,
        5,
    )
