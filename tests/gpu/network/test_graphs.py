"""Steps that are launched from recordings are the steps that are not."""
# ruff: noqa: E402

import gc
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network import graphs, reader
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.targets.processors import Mask
from tests.gpu import architectures, zoo
from tests.gpu.parameters import processors
from tests.gpu.small import CONTEXT, PROMPTS, VOCAB, Numbers, network, steps_of
from tests.gpu.tape import Recordings

CHANGED = processors(
    repetition_penalty=1.2, frequency_penalty=0.3, bad_words_ids=[[4, 5]],
    grammar=Mask("a", {"a": {str(x): "ab"[x % 2] for x in range(VOCAB)}, "b": {"3": "a", "8": "b"}}),
)  # fmt: skip
WAYS = [
    ("block", "chain:3", "near", Sampling()),
    ("token", "chain:3", "near", Sampling(0.7, top_k=9, top_p=0.9)),
    ("greedy-block", "chain:3", "near", Sampling()),
    ("traversal", "tree:2x2", "near", Sampling()),
    ("traversal", "tree:2x2", "features", Sampling(0.0)),
    ("specinfer", "tree+:2x2", "near", Sampling(1.0, min_p=0.05)),
    ("rrs", "paths:2x3", "near", Sampling()),
    ("one-hot", "top-k:3x3x7", "near", Sampling()),
    ("one-hot", "top-k:4x4x3", "features", Sampling()),
    ("nss", "ddtree:9x4", "block", Sampling()),
    ("block", "chain:4", "dspark", Sampling()),
    ("block", None, None, Sampling()),
    ("traversal", "tree:2x2", "near", Sampling(processors=CHANGED)),
    ("one-hot", "top-k:3x3x7", "near", Sampling(processors=CHANGED)),
    ("block", "chain:3", "near", Sampling(), "tetris-repaired"),
    ("token", "chain:3", "features", Sampling(processors=CHANGED), "confidence-stop"),
]


@pytest.fixture
def recordings(monkeypatch):
    made = Recordings()
    monkeypatch.setattr(graphs, "CALLS", 1)
    monkeypatch.setattr(graphs, "recording", made)
    monkeypatch.setattr(reader, "SLOT_BLOCK", 16)
    yield made
    reader.IDLE_READERS.clear()


def decoded(verifier, spelling, which, sampling, selection=None, prompts=PROMPTS):
    options = {"sampling": sampling, "max_new_tokens": 10, "ignore_end": True, "seed": 3}
    options["selection"] = selection and Selection.of(selection, 3)
    return steps_of(verifier, spelling, which, prompts, **options)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: re.sub(" at 0x[0-9a-f]+", "", str(way)))
def test_recorded_steps_are_the_plain_ones_and_stay_as_they_were(way, recordings, monkeypatch):
    found = decoded(*way)
    assert recordings.ran > recordings.made > 0
    assert not recordings.waited
    again = decoded(*way)  # with readers that were used before
    monkeypatch.undo()
    reader.IDLE_READERS.clear()
    plain = decoded(*way)
    for steps in (found, again):
        assert [step.emitted for step in steps] == [step.emitted for step in plain]
        for one, other in zip(steps, plain, strict=True):
            assert one.rows == other.rows
            assert torch.equal(one.draft.tokens, other.draft.tokens)
            assert torch.equal(one.draft.tree.parents, other.draft.tree.parents)
            for name in ("node", "token", "error"):
                assert torch.equal(getattr(one.outcome, name), getattr(other.outcome, name))
            assert torch.allclose(one.drafts.target, other.drafts.target, atol=1e-5)
            if one.draft.proposal is not None:
                assert torch.allclose(one.draft.proposal, other.draft.proposal, atol=1e-5)


def test_texts_of_one_shape_need_no_recordings_of_their_own(recordings):
    made = []
    for _ in range(4):
        decoded("block", "chain:3", "near", Sampling(), prompts=PROMPTS[:1])
        made.append(recordings.made)
    assert made[1] == made[2] == made[3] > 0


def test_what_waits_for_the_device_is_called_plainly(recordings):
    remember = graphs.Recorder(torch.device("cpu"))

    reads = [
        lambda x: x.max().item(),
        lambda x: int(x[1]),
        lambda x: x.tolist()[1],
        lambda x: x.cpu().numpy()[1],
    ]
    with torch.inference_mode():
        for name, largest in enumerate(reads):
            found = [remember(name, largest, x=torch.tensor([1, n])) for n in (2, 3, 4, 5)]
            assert found == [2, 3, 4, 5]
    assert len(recordings.waited) == len(reads)
    assert not recordings.ran


def test_a_graph_that_cannot_be_captured_is_called_plainly(monkeypatch):
    calls = []

    def captured(call, device):
        calls.append(call())
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(graphs, "waits", lambda call, device: False)
    monkeypatch.setattr(graphs, "captured", captured)
    remember = graphs.Recorder(torch.device("cuda"))
    for n in range(graphs.CALLS + 3):
        assert int(remember("twice", lambda x: 2 * x, x=torch.tensor(n))) == 2 * n
    assert len(calls) == 1


def test_a_graph_is_given_the_new_numbers(monkeypatch):
    def captured(call, device):
        held = call()
        return lambda: held.copy_(call()), held

    monkeypatch.setattr(graphs, "waits", lambda call, device: False)
    monkeypatch.setattr(graphs, "captured", captured)
    remember = graphs.Recorder(torch.device("cuda"))
    results = [remember("twice", lambda x: 2 * x, x=torch.tensor(n)) for n in range(graphs.CALLS + 3)]
    assert [int(each) for each in results[: graphs.CALLS]] == [2 * n for n in range(graphs.CALLS)]
    assert results[-1] is results[-2]  # overwritten by the next call
    assert int(results[-1]) == 2 * (graphs.CALLS + 2)


def test_the_result_of_a_recording_is_read_where_it_is(recordings):
    remember, given = graphs.Recorder(torch.device("cpu")), []

    def twice(x):
        return 2 * x

    def more(x, y):
        given.append((x, y))
        return x + y

    for n in range(4):
        x, y = remember("twice", twice, x=torch.tensor([n])), torch.tensor([1])
        assert int(remember("more", more, x=x, y=y)) == 2 * n + 1
    assert given[-1][0] is x
    assert given[-1][1] is not y


def test_an_idle_reader_does_not_keep_its_network(recordings):
    net = network(16, 1, 0)
    model = Model("gone", net, Numbers(), VOCAB, CONTEXT)
    for _ in generate(model, None, [[1, 2]], verifier=named("block"), structure=None, max_new_tokens=9):
        pass
    assert len(reader.IDLE_READERS) == 1
    del net, model, _
    gc.collect()
    assert not reader.IDLE_READERS


def test_tensors_are_found_in_containers():
    assert len(list(graphs.tensors((torch.zeros(1), {"a": torch.zeros(1), "b": None})))) == 2


@pytest.mark.parametrize("name", ["gemma2", "llama4_text-cold"])
def test_recorded_passes_cross_windows_and_chunks(name, recordings):
    found = zoo.greedy(architectures.model(name))
    assert recordings.ran > recordings.made > 0
    assert not any(each.ties for each in found.values())
