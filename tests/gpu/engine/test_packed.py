"""A packed pass reads no more tokens than were kept, and a batch decodes as with padded passes."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network import graphs
from draftproof.gpu.network.reader import PACKED_MULTIPLE, Reader, Unpacked
from draftproof.gpu.sampling.names import SELECTIONS
from tests.gpu.small import steps_of, target

PROMPTS = ([5], [3, 4, 5, 6, 7, 8], [9, 1, 2], [7, 7])


def padded(reader, counts, ids, **inputs):
    """The same pass with one row for each text, as long as the longest."""
    output = reader.forward(max(counts), 0, input_ids=ids, **inputs)
    return Unpacked(output.logits, output.hidden_states)


def decoded(name, which):
    """(texts, steps, the numbers of tokens that the target's passes computed after the prompts)."""
    sizes = []
    kept = target().network.forward

    def counted(*args, input_ids, **options):
        sizes.append(input_ids.numel())
        return kept(*args, input_ids=input_ids, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target().network, "forward", counted)
        how = {"selection": Selection.of(name, 5), "max_new_tokens": 24}
        steps = steps_of("block", "chain:4", which, PROMPTS, **how)
    return texts(steps, len(PROMPTS)), steps, sizes[1:]


@pytest.mark.parametrize(
    ("name", "which"),
    [("tetris-repaired", "near"), ("confidence-stop", "features"),
     *(pytest.param(name, "near", marks=pytest.mark.slow) for name in SELECTIONS)],
)  # fmt: skip
def test_texts_are_those_of_padded_passes_with_fewer_tokens(monkeypatch, name, which):
    found, steps, sizes = decoded(name, which)
    assert sizes == [len(step.rows) + sum(step.kept) for step in steps]
    monkeypatch.setattr(Reader, "packed", padded)
    same, steps, longer = decoded(name, which)
    assert found == same
    assert longer == [len(step.rows) * (1 + max(step.kept)) for step in steps]
    assert sum(sizes) < sum(longer) or all(min(step.kept) == max(step.kept) for step in steps)


@pytest.mark.parametrize("what", ["owner", "slot"])
def test_a_pass_that_sees_other_texts_is_found_out(monkeypatch, what):
    """Without a mask by text, and with one that lets a token see the slots behind it."""
    right, *_ = decoded("tetris-repaired", "near")
    masked = Reader._mask

    def wrong(self, visible, within, positions):
        if self.slots.owner is not None:
            texts, seen = len(self.counts), self.slots.seen
            open_ = visible.unflatten(-1, (texts, seen))
            some = open_.any(-2 if what == "owner" else -1, keepdim=True)
            visible = some.expand_as(open_).flatten(-2)
        return masked(self, visible, within, positions)

    monkeypatch.setattr(Reader, "_mask", wrong)
    found, *_ = decoded("tetris-repaired", "near")
    assert found != right


def test_recorded_packed_passes_have_few_shapes(monkeypatch):
    """Their tokens are filled up with the first one again, which changes nothing."""
    right, *_ = decoded("tetris-repaired", "near")
    packed, sizes = Reader._packed, []

    def counted(self, owner, **given):
        sizes.append(owner.shape[1])
        return packed(self, owner, **given)

    monkeypatch.setattr(Reader, "_packed", counted)
    monkeypatch.setattr(graphs, "recording", lambda device: lambda call, device: call)
    found, *_ = decoded("tetris-repaired", "near")
    assert found == right
    assert sizes
    assert all(size % PACKED_MULTIPLE == 0 for size in sizes)
