"""What a step launches outside recordings, and which recordings a run makes: counted, with no GPU."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch.utils._python_dispatch import TorchDispatchMode

from draftproof.gpu.drafters import likeliest
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.network import graphs, reader
from draftproof.gpu.verify import named
from tests.gpu.small import CONTEXT, drafter, steps_of, target
from tests.gpu.tape import Recordings

MOST = 21
"""Launches outside recordings: noise, last tokens, and what goes into the buffers of recordings."""

WAYS = [
    ("block", "chain:4", "near"),
    ("traversal", "tree:2x3", "near"),
    ("traversal", "paths:2x3", "near"),
    ("one-hot", "top-k:4x4x16", "near"),
    ("one-hot", "top-k:4x4x16", "features"),
    ("one-hot", "ddtree:12x4", "block"),
    ("block", "chain:4", "dspark"),
    ("lifted-priority", "strata:2x2", "near"),
]


class Outside(TorchDispatchMode):
    """Counts the operations, views left out, that are not run by a recording."""

    def __init__(self):
        super().__init__()
        self.count = self.inside = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += not self.inside and not func.is_view
        return func(*args, **(kwargs or {}))

    def leaving_out(self, record):
        def wrapped(call, device):
            again = record(call, device)
            return again and (lambda: self._quiet(again))

        return wrapped

    def _quiet(self, again):
        self.inside += 1
        try:
            return again()
        finally:
            self.inside -= 1


@pytest.fixture
def recordings(monkeypatch):
    made = Recordings()
    monkeypatch.setattr(graphs, "CALLS", 1)
    monkeypatch.setattr(graphs, "recording", made)
    monkeypatch.setattr(reader, "SLOT_BLOCK", CONTEXT)
    yield made
    reader.IDLE_READERS.clear()


def launches(verifier, spelling, which, recordings):
    """Outside recordings in the sixth step of a run of two texts, and recordings launched in it."""
    outside = Outside()
    recordings.record = outside.leaving_out(recordings.record)
    options = {"verifier": named(verifier), "structure": structure(spelling), "keep_rows": False}
    steps = generate(target(), drafter(which), [[3, 4, 5], [9, 1]], ignore_end=True, seed=3, **options)
    for _ in range(5):
        next(steps)
    ran = recordings.ran
    with outside:
        next(steps)
    return outside.count, recordings.ran - ran


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_almost_all_of_a_step_is_recorded(way, recordings):
    count, ran = launches(*way, recordings)
    assert not recordings.waited
    assert count <= MOST
    assert ran <= 5  # the draft, the target's pass, the verdict, and what draft and target keep of it


def test_a_look_at_a_number_while_a_tree_grows_is_noticed(recordings, monkeypatch):
    choose = likeliest.likeliest
    monkeypatch.setattr(likeliest, "likeliest", lambda *given: (given[1].max().item(), choose(*given))[1])
    count, _ = launches("one-hot", "top-k:4x4x16", "near", recordings)
    assert recordings.waited
    assert count > MOST


LONG = [[1 + (7 * i + row) % 30 for i in range(CONTEXT - left)] for row, left in enumerate((5, 9, 14, 22))]
"""Prompts whose texts end, at the context's end, at different times."""


def run(recordings, way, **options):
    """Steps, and how many recordings they took."""
    before = recordings.made
    steps = steps_of(*way, LONG, max_new_tokens=40, ignore_end=True, seed=3, **options)
    return steps, recordings.made - before


@pytest.mark.parametrize(
    "way", [WAYS[4], *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS[2:6:3])], ids=str
)
def test_rows_that_end_do_not_cost_recordings(way, recordings, monkeypatch):
    sizes = []
    keep = reader.Reader.keep
    monkeypatch.setattr(reader.Reader, "keep", lambda self, rows: (sizes.append(len(rows)), keep(self, rows)))
    found = [run(recordings, way) for _ in range(3)]
    assert set(sizes) <= {2, 1}
    assert found[0][1] > found[2][1] == 0
    monkeypatch.setattr(graphs, "recording", lambda device: None)
    reader.IDLE_READERS.clear()
    plain, _ = run(recordings, way)
    assert len({tuple(step.rows) for step in plain}) >= 3  # they end one after the other
    for steps, _ in found:
        for one, other in zip(steps, plain, strict=True):
            assert (one.rows, one.emitted, one.accepted) == (other.rows, other.emitted, other.accepted)
            assert torch.equal(one.draft.tokens, other.draft.tokens)
            for name in ("coins", "extra"):
                assert torch.equal(getattr(one, name), getattr(other, name))
            assert torch.allclose(one.drafts.target, other.drafts.target, atol=1e-5)


def test_prompts_that_take_the_rows_of_others_cost_no_recordings(recordings):
    (first, made), (again, more) = (run(recordings, WAYS[4], batch=2) for _ in range(2))
    assert made > more == 0
    assert [step.rows for step in first] == [step.rows for step in again]
    assert {row for step in first for row in step.rows} == {0, 1, 2, 3}


def test_thrown_away_recordings_are_noticed(recordings, monkeypatch):
    keep = reader.Reader.keep
    monkeypatch.setattr(reader.Reader, "keep", lambda self, rows: (keep(self, rows), self.recorder.forget()))
    assert [run(recordings, WAYS[4])[1] for _ in range(3)][2] > 0
