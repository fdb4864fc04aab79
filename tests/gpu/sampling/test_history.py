"""Processed rows of drafted trees are the exact engine's, where a logit is the logarithm of a mass."""
# ruff: noqa: E402

from math import log

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.theory.table import Table
from draftproof.theory.targets.processors import PROCESSORS, Processed
from tests.gpu.parameters import processors

GRAMMAR = {"start": "a", "edges": {"a": {"0": "a", "1": "b", "3": "b"}, "b": {"2": "a", "1": "a"}}}
EXACT = Table.exact(
    4,
    {
        (): ["1/2", "1/4", "1/8", "1/8"],
        (0,): ["1/8", "1/8", "1/4", "1/2"],
        (1,): ["1/16", "1/16", "3/8", "1/2"],
    },
)
SAME = {
    "temperature": ({"temperature": "1/2"}, {"temperature": 0.5}),
    "mask": (GRAMMAR, {"grammar": PROCESSORS["mask"](**GRAMMAR)}),
    "frequency": ({"factor": "1/2"}, {"frequency_penalty": log(2)}),
    "presence": ({"factor": "1/3"}, {"presence_penalty": log(3)}),
    "repetition": ({"penalty": 2}, {"repetition_penalty": 2.0}),
    "bias": ({"factors": {"2": 3, "0": "1/4"}}, {"logit_bias": {2: log(3), 0: -log(4)}}),
    "min-p": ({"share": "1/3"}, {"min_p": 1 / 3 - 1e-6}),
    "top-k": ({"count": 2}, {"top_k": 2}),
    "top-p": ({"mass": "3/4"}, {"top_p": 0.75 - 1e-6}),
}
"""Kind -> (its settings in the exact engine, the same in a decoder)."""

MANY = "repetition", "presence", "frequency", "mask", "top-k"
"""Without a bias: a decoder's repetition penalty does not see normalised logits after one."""

TREE = Tree([-1, 0, 0, 1, 1, 2, 3, 5])
TOKENS = torch.tensor([[0, 1, 0, 1, 2, 0, 3], [1, 3, 2, 1, 1, 0, 0], [2, 0, 3, 1, -1, 2, -1]])
FILTERS = "temperature", "top_k", "top_p", "min_p"


def sampling(settings):
    filters = {name: value for name, value in settings.items() if name in FILTERS}
    rest = {name: value for name, value in settings.items() if name not in FILTERS}
    return Sampling(**filters, processors=processors(**rest))


def words():
    """(draft, node, the drafted tokens up to it) of every node that was drawn."""
    parents, drawn = TREE.parents[0].tolist(), TREE.drawn(TOKENS).tolist()
    for b, tokens in enumerate(TOKENS.tolist()):
        found = [()]
        for node, parent in enumerate(parents[1:], 1):
            found.append((*found[parent], tokens[node - 1]))
        yield from ((b, node, word) for node, word in enumerate(found) if drawn[b][node])


def test_every_exact_processor_has_its_like():
    assert set(SAME) == set(PROCESSORS)


@pytest.mark.parametrize("before", [(), (0, 1)])
@pytest.mark.parametrize("kinds", [*((kind,) for kind in SAME), MANY])
def test_rows_are_the_exact_ones(kinds, before):
    """With `before` emitted already."""
    steps = [PROCESSORS[kind](**SAME[kind][0]) for kind in kinds]
    exact, settings = Processed(EXACT, steps), {}
    for kind in kinds:
        settings |= SAME[kind][1]
    asked, V = sampling(settings), EXACT.vocab
    rows = torch.full((3, TREE.size, V), 1 / V, dtype=torch.float64)
    for b, node, word in words():
        rows[b, node] = torch.tensor([float(mass) for mass in EXACT[(*before, *word)]])
    history = History(asked.processors, torch.zeros(3, 0, dtype=torch.long), 16)
    for token in before:
        history.add(torch.tensor([[token, -1]] * 3))
    found = asked.rows(history.in_tree(asked, rows.log(), TREE, TOKENS))
    for b, node, word in words():
        expected = torch.tensor([float(mass) for mass in exact[(*before, *word)]], dtype=torch.float64)
        assert torch.allclose(found[b, node], expected, atol=1e-6), (b, node, word)


def test_rows_after_emitted_words_are_those_after_drafted_ones():
    asked = sampling({"frequency_penalty": 0.5, "repetition_penalty": 1.3, "bad_words_ids": [[0, 1]]})
    words = torch.tensor([[0, 0], [1, 3], [2, 0]])
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    history = History(asked.processors, torch.tensor([[3, 2]] * 3), 4)
    history.add(words)
    emitted = history.processed(asked, logits[:, None], words[:, None, :0])[:, 0]
    history = History(asked.processors, torch.tensor([[3, 2, -1]] * 3), 8)
    assert torch.equal(history.processed(asked, logits[:, None], words[:, None])[:, 0], emitted)
    history.keep([2, 0])
    kept = history.processed(asked, logits[[2, 0], None], words[[2, 0], None])[:, 0]
    assert torch.equal(kept, emitted[[2, 0]])
