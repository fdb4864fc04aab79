"""Top-k trees hold the likeliest nodes there are."""
# ruff: noqa: E402

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import structure

V = 4


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
