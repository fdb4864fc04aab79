"""Without a GPU: a smaller grid, ratios, and nothing finished is lost."""

import json
from dataclasses import asdict
from importlib.util import find_spec
from itertools import islice, product

import pytest

torch = pytest.importorskip("torch")

from benchmarks import verification as speed  # noqa: E402
from benchmarks.cases import DRAFTS, make, tree_of  # noqa: E402
from tests.gpu.logits import probabilities  # noqa: E402

CPU = torch.device("cpu")
SMALL = speed.Grid((64,), (2,), (1,))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.0)
    monkeypatch.setattr(speed, "copy_bandwidth", lambda device: 1e9)


def command(capfd, *arguments):
    try:
        status = speed.main(["--device", "cpu", *arguments])
    except SystemExit as ended:
        status = ended.code
    return status, *capfd.readouterr()


@pytest.mark.parametrize("gamma", [1, 2, 4, 8, 9])
def test_the_tree_has_64_nodes_and_the_depth_asked_for(gamma):
    for draft in ("tree", "tree+", "strata"):
        tree = tree_of(draft, gamma)
        assert (tree.size, tree.depth) == (64, gamma)
        assert (tree.replacement, tree.stratified) == (draft == "tree+", draft == "strata")
    assert tree_of("chain", gamma).is_chain


def test_every_draft_is_drawn_from_the_rows_that_it_says():
    """The exact engine's decisions hold for any draft, so that only where tokens are drawn from is tested."""
    for draft in DRAFTS:
        case = make(draft, 4, 100, 3, CPU, torch.float32)
        parents = case.tree.parents[0].tolist()
        rows = probabilities(case.q)
        assert torch.allclose(rows.sum(-1), torch.ones(()))
        for b, v in product(range(3), range(1, case.tree.size)):
            at, x = case.tree.rows[0, parents[v]], case.tokens[b, v - 1]
            assert rows[b, at, x] > 0
            if draft == "strata":
                j = parents[1:v].count(parents[v])
                assert j - 1 < case.strata[b, at, x] < j + 1


def test_drafted_siblings_differ_and_have_mass():
    case = make("tree", 4, 100, 3, CPU, torch.float32)
    parents = case.tree.parents[0].tolist()
    rows = probabilities(case.proposal)
    for b in range(3):
        below = {}
        for v in range(1, case.tree.size):
            x = case.tokens[b, v - 1].item()
            assert rows[b, case.tree.rows[0, parents[v]], x] > 0
            below.setdefault(parents[v], []).append(x)
        assert all(len(set(each)) == len(each) for each in below.values())


def test_bytes_are_those_of_the_logits_read_once():
    assert make("chain", 4, 100, 3, CPU, torch.bfloat16).bytes == 3 * (5 + 4) * 100 * 2
    case = make("strata", 4, 100, 3, CPU, torch.bfloat16)
    inner = len(case.tree.inner)
    assert case.bytes == 3 * (64 + inner) * 100 * 2 + 3 * inner * 100 * 4


def test_ratios_are_to_the_first_method_and_the_floor_is_one_read():
    points = list(speed.run(SMALL, CPU, bandwidth=1e9))
    first = {point.B: point for point in points if point.method == "token torch"}
    for point in points:
        if point.draft == "chain" and point.seconds:
            assert point.ratio == point.seconds / first[point.B].seconds
            assert point.floor_share == point.bytes / 1e9 / point.seconds
    measured = {point.method for point in points if point.seconds}
    assert measured >= {"block torch", "rrs torch", "traversal torch", "optimal torch"}
    lifted = {point.draft for point in points if point.method == "lifted-optimal torch" and point.seconds}
    assert lifted == {"tree+", "strata"}
    assert ("transformers token" in measured) == bool(find_spec("transformers"))


def test_the_interpreter_is_never_timed():
    assert not [name for name, _ in speed.methods("chain", 1, CPU) if "kernels" in name]


def test_a_method_that_cannot_run_says_why_and_the_others_go_on(monkeypatch):
    def missing(case):
        raise ImportError("No module named 'flashinfer'")

    def broken(case):
        raise TypeError("rejection_sample() got an unexpected argument\nand more")

    monkeypatch.setattr(
        speed, "methods", lambda *_: [("a", missing), ("b", broken), ("c", lambda case: lambda: None)]
    )
    a, b, c = islice(speed.run(SMALL, CPU, 1e9), 3)
    assert a.note == "not installed: No module named 'flashinfer'"
    assert b.note == "did not run: rejection_sample() got an unexpected argument"
    assert (a.seconds, c.ratio) == (None, 1.0)
    assert "not installed" in json.dumps(asdict(a))


def test_a_peer_may_raise_anything_and_what_it_prints_is_not_the_answer(monkeypatch, capfd):
    def strange(case):
        print("a peer's greeting")
        raise AssertionError

    monkeypatch.setattr(speed, "methods", lambda *_: [("a", strange), ("b", lambda case: lambda: None)])
    status, out, err = command(capfd, "--vocab", "64", "--draft", "chain:2", "--batch", "1", "--json")
    points = json.loads(out)["points"]
    assert (status, points[0]["note"], points[1]["ratio"]) == (0, "did not run: AssertionError", 1.0)
    assert "greeting" in err


def test_a_case_that_does_not_fit_into_memory_does_not_end_the_run(monkeypatch):
    def made(draft, gamma, V, *rest):
        if V == 64:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 8 GiB")
        return make(draft, gamma, V, *rest)

    monkeypatch.setattr(speed, "make", made)
    points = list(speed.run(speed.Grid((64, 65), (2,), (1,), ("chain",)), CPU, 1e9))
    assert (points[0].V, points[0].seconds, points[0].note) == (64, None, "out of memory")
    assert all(point.V == 65 and point.seconds for point in points[1:])


@pytest.mark.parametrize(("lost", "expected"), [("block torch", 1), ("all", 1), ("SGLang token", 0)])
def test_what_could_not_be_measured_is_status_1_unless_it_is_a_peer(lost, expected, capfd, monkeypatch):
    points = [
        speed.Point("chain", 2, 64, 1, "token torch", 1.0, 8, 0.5, 1.0),
        speed.Point("chain", 2, 64, 1, lost, None, 0, None, None, "out of memory"),
    ]
    monkeypatch.setattr(speed, "run", lambda *_: iter(points))
    status, out, err = command(capfd, "--json")
    answer = json.loads(out)
    assert (status, answer["complete"], answer["ok"]) == (expected, True, not expected)
    assert ("1 of 2 measurements could not be made" in err) == bool(expected)


@pytest.mark.parametrize(
    ("waits", "fails", "note"),
    [
        (False, (), ""),
        (True, (), "no graph"),
        (False, (True,), "no graph"),
        (False, (True, False), "out of memory"),
    ],
)
def test_what_cannot_be_captured_is_called(waits, fails, note, monkeypatch):
    def on_gpu(call, device, graph):
        if graph in fails:
            raise RuntimeError("CUDA error: out of memory")
        return 1.0

    monkeypatch.setattr(speed, "waits", lambda call, device: waits)
    monkeypatch.setattr(speed, "on_gpu", on_gpu)
    seconds = None if len(fails) == 2 else 1.0
    assert speed._on_gpu(lambda: None, CPU) == (seconds, note)


def test_the_device_is_kept_busy_until_the_call_is_submitted(monkeypatch):
    done = []

    class Event:
        def __init__(self, enable_timing):
            done.append("made")

        def record(self):
            done.append("record")

        def synchronize(self):
            done.append("wait")

        def elapsed_time(self, end):
            return 2.0

    class Flush:
        def zero_(self):
            done.append("flush")

    monkeypatch.setattr(torch.cuda, "Event", Event)
    assert speed._events(lambda: done.append("call"), Flush()) == 2e-3
    assert done == ["made", "made", *["flush"] * speed.FLUSHES, "record", "call", "record", "wait"]


def test_the_command_on_a_cpu_says_so_and_prints_ratios(capfd):
    small = ("--vocab", "64", "--batch", "1")
    drafts = [part for each in ("chain:2", "tree:2", "tree+:2", "strata:2") for part in ("--draft", each)]
    status, out, err = command(capfd, *small, *drafts)
    assert (status, "no GPU is used" in err) == (0, True)
    assert "ratio" in out
    assert "traversal torch" in out
    status, out, _ = command(capfd, *small, "--draft", "chain", "--draft", "chain:2", "--json")
    answer = json.loads(out)
    assert (status, answer["gpu"], answer["complete"]) == (0, False, True)
    assert {(point["draft"], point["gamma"]) for point in answer["points"]} == {("chain", 4), ("chain", 2)}


def test_interrupted_prints_what_was_measured(capfd, monkeypatch):
    def two(grid, device, bandwidth):
        yield from islice(measured, 2)
        raise KeyboardInterrupt

    measured = list(speed.run(speed.Grid((64,), (2,), (1,), ("chain",)), CPU, 1e9))
    monkeypatch.setattr(speed, "run", two)
    status, out, err = command(capfd, "--json")
    assert (status, "interrupted" in err) == (130, True)
    assert json.loads(out)["complete"] is False
    assert len(json.loads(out)["points"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--device", "nowhere"], "--device nowhere"),
        (["--vocab", "1"], "--vocab"),
        (["--draft", "bush"], "--draft"),
        (["--draft", "chain:33"], "--draft"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_measured(arguments, says, capfd):
    status, _, err = command(capfd, *arguments)
    assert status == 2
    assert says in err.splitlines()[-1]


def test_trees_have_64_nodes():
    assert tree_of("chain", 4).size == 5
    assert tree_of("tree", 4).size == tree_of("tree", 8).size == 64
    assert tree_of("tree", 8).depth == 8
