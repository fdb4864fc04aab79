"""Prompts are decoded batch by batch; each text is the one that it is without others."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine import loop, parts
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network import reader, session, whole
from draftproof.gpu.sampling import history
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from draftproof.theory.targets.processors import Mask
from tests.gpu import architectures as zoo
from tests.gpu.edits import edit
from tests.gpu.parameters import processors
from tests.gpu.small import VOCAB, drafter, steps_of

CHANGED = processors(
    repetition_penalty=1.2, frequency_penalty=0.3, bad_words_ids=[[4, 5]],
    grammar=Mask("a", {"a": {str(x): "ab"[x % 2] for x in range(VOCAB)}, "b": {"3": "a", "8": "b"}}),
)  # fmt: skip

PROMPTS = [3, 4, 5, 6, 7, 8], [9, 1], [11, 12, 13], [5, 6], [2] * 9, [7, 9, 11], [8, 2]
WAYS = [
    ("block", "chain:3", "near", {}),
    ("traversal", "tree:2x2", "features", {}),
    ("rrs", "paths:2x3", "near", {}),
    ("one-hot", "top-k:3x3x7", "near", {}),
    ("nss", "ddtree:9x4", "block", {}),
    ("token", "chain:3", "ngram", {}),
    ("block", None, None, {}),
    ("traversal", "tree:2x2", "near", {"sampling": Sampling(processors=CHANGED)}),
    ("block", "chain:3", "near", {"selection": Selection.of("confidence-stop")}),
]


def found(verifier, spelling, which, options, **more):
    """Steps of texts of which about half end before they have nine tokens."""
    given = {"max_new_tokens": 9, "stop": ("1", "7")} | options | more
    return steps_of(verifier, spelling, which, PROMPTS, **given)


@pytest.mark.parametrize("way", WAYS, ids=[" ".join(map(str, way[:3])) for way in WAYS])
@pytest.mark.parametrize("batch", [1, 3])
def test_texts_are_those_of_all_at_once(way, batch):
    together, joining = found(*way), found(*way, batch=batch)
    assert texts(joining, len(PROMPTS)) == texts(together, len(PROMPTS))
    assert max(len(step.rows) for step in joining) == batch
    begun = list(dict.fromkeys(row for step in joining for row in step.rows))
    assert begun == list(range(len(PROMPTS)))


DRAFTS = [WAYS[0], WAYS[2], ("block", "chain:4", "block", {})]


def same_proposals(way):
    """Whether the drafter's rows for each text are those of all texts at once."""

    def rows(**more):
        proposals = [[] for _ in PROMPTS]
        for step in found(*way, **more):
            for number, proposal in zip(step.rows, step.draft.proposal, strict=True):
                proposals[number].append(proposal)
        return [torch.stack(each) for each in proposals]

    pairs = zip(rows(), rows(batch=1), strict=True)
    return all(a.shape == b.shape and torch.allclose(a, b, atol=1e-5) for a, b in pairs)


@pytest.mark.parametrize("way", DRAFTS, ids=[way[2] for way in DRAFTS])
def test_drafts_are_those_of_all_at_once(way):
    assert same_proposals(way)


LONG, SHORT = (
    ("traversal", "tree:6x2", "features", {"stop": (), "max_new_tokens": count}) for count in (24, 3)
)
"""Ways whose second children are in slots behind their positions."""


@pytest.fixture
def window(monkeypatch):
    """The head attends to two tokens only."""
    monkeypatch.setattr(drafter("features").head.config, "sliding_window", 2, raising=False)


def test_a_head_with_a_window(window, monkeypatch):
    with_window = found(*LONG)
    assert same_proposals(LONG)
    assert same_proposals(SHORT)
    monkeypatch.undo()
    assert not torch.equal(with_window[0].draft.proposal, found(*LONG)[0].draft.proposal)


def test_positions_that_are_left_behind_are_noticed(window, monkeypatch):
    old = "positions = [self.positions] if self.windows else []"
    edit(reader, old, "positions = []", monkeypatch)
    assert not same_proposals(LONG)


def same_in_batches(name, why=None):
    """Whether texts are the same all at once and two at a time."""
    model = replace(zoo.model(name), why=why)
    given = {"verifier": named("block"), "structure": structure("chain:3"), "max_new_tokens": 9}
    prompts = [[3, 4, 5, 6, 7, 8], [9, 1], [11, 12, 13] * 4, [5, 6], [2] * 9]
    run = [
        texts(generate(model, ModelDrafter(model), prompts, seed=range(5), batch=batch, **given), 5)
        for batch in (None, 2)
    ]
    return run[0] == run[1]


@pytest.mark.parametrize(
    ("name", "why"), [("mistral", None), ("llama4_text-cold", None), ("bloom", "no slots")]
)
def test_windows_chunks_and_whole_texts(name, why):
    assert same_in_batches(name, why)


def test_the_text_of_another_row_is_noticed(monkeypatch):
    edit(whole, "[self.texts[row] for row in rows]", "self.texts[: len(rows)]", monkeypatch)
    assert not same_in_batches("bloom", "no slots")


EDITS = [
    (session, "self.last = self.last[rows]", "self.last = self.last[: len(rows)]"),
    (history, "{each: memory[rows] for each, memory in self.memory.items()}", "self.memory"),
    (parts, "self.keys, self.positions = self.keys[rows], self.positions[rows]", "pass"),
    (loop, "Noise(given.seed, numbers,", "Noise(given.seed, range(len(numbers)),"),
]


@pytest.mark.parametrize(("module", "old", "new"), EDITS, ids=lambda each: str(each)[:30])
def test_broken_versions_write_other_texts(module, old, new, monkeypatch):
    ways = [WAYS[0], WAYS[7]]
    right = [texts(found(*way, seed=5), len(PROMPTS)) for way in ways]
    edit(module, old, new, monkeypatch)
    try:
        wrong = [texts(found(*way, seed=5, batch=3), len(PROMPTS)) for way in ways]
    except (BadInput, IndexError, RuntimeError):
        return
    assert wrong != right


def test_a_batch_of_nothing_is_bad_input():
    with pytest.raises(BadInput, match="batch must be at least 1, not 0"):
        found("block", "chain:3", "near", {}, batch=0)
