"""The report, from what real small runs left: what was not measured on a GPU is never said to hold."""

from copy import deepcopy
from pathlib import Path

import pytest

from benchmarks.on_gpu.report import report
from benchmarks.on_gpu.required import figures
from benchmarks.on_gpu.runs import documents
from benchmarks.on_gpu.stages import STAGES

CANNED = Path(__file__).parent / "small"
"""What `python -m benchmarks.on_gpu --device cpu` left on two cores, and compute-sanitizer's answers."""


@pytest.fixture
def small():
    return documents(CANNED)


@pytest.fixture
def claimed(small):
    """The same as if it had been measured on a GPU, with compiled kernels and a pair of its own."""
    found = deepcopy(small)
    for document in found.values():
        document["machine"] |= {"gpu": True, "name": "a GPU"}
        document["small"] = False
    for run in found["kernels"]["runs"]:
        for point in run["answer"]["points"] if run["name"] != "sizes" else ():
            point["method"] = point["method"].replace("torch", "kernels")
    found["verify"]["runs"][0]["answer"]["kernels"]["run"] = "compiled"
    for run in found["bench"]["runs"]:
        run["answer"]["model"] = "build/pair/target"
    return found


def lines(found, stage=None):
    """Rows of the first table as (stage, required, measured, holds)."""
    rows = [line[2:-2].split(" | ") for line in report(found).partition("## What")[0].splitlines()[2:]]
    return [row for row in rows if len(row) == 4 and row[0] in ((stage,) if stage else STAGES)]


def figure(found, words):
    (one,) = [each for each in figures(found) if words in each.required]
    return one


def answers(found, stage):
    return {run["name"]: run["answer"] for run in found[stage]["runs"]}


def points(found, name):
    return {point["method"]: point for point in answers(found, "kernels")[name]["points"]}


def test_every_stage_of_the_small_run_left_its_answer(small):
    assert set(small) == set(STAGES)
    for document in small.values():
        assert not document["machine"]["gpu"]
        assert all(run["answer"] and not run["stopped"] for run in document["runs"])


def test_without_a_gpu_nothing_holds(small):
    page = report(small)
    assert "No GPU was used" in page
    assert {row[3] for row in lines(small)} == {"not measured"}
    measured = [row[2] for row in lines(small) if row[2].strip()]
    assert len(measured) >= 14
    assert all(each.startswith("(no GPU, small: ") for each in measured)


def test_a_small_run_on_a_gpu_settles_nothing(claimed):
    for document in claimed.values():
        document["small"] = True
    assert {row[3] for row in lines(claimed)} == {"not measured"}


def test_nothing_run(tmp_path):
    assert documents(tmp_path) == {}
    assert {tuple(row[2:]) for row in lines({})} == {("", "not measured")}
    assert {row[0] for row in lines({})} == set(STAGES)


def test_the_report_says_what_a_gpu_measured(claimed):
    page = report(claimed)
    assert "No GPU" not in page
    assert {row[3] for row in lines(claimed)} >= {"yes", "**NO**"}


@pytest.mark.parametrize(
    ("run", "method", "field", "good", "bad", "words"),
    [
        ("chain, B = 64", "block", "floor_share", 0.7, 0.69, "bandwidth floor"),
        ("chain, B = 1", "block", "seconds", 59e-6, 60e-6, "less than 60 us"),
    ],
)
def test_thresholds_of_one_point(run, method, field, good, bad, words, claimed):
    point = points(claimed, run)[f"{method} kernels"]
    for value, holds in ((good, True), (bad, False)):
        point[field] = value
        assert figure(claimed, words).holds is holds
    point |= {"seconds": None, "floor_share": None, "note": "out of memory"}
    assert figure(claimed, words).holds is False
    assert "out of memory" in figure(claimed, words).measured
    point["method"] = "something else"
    assert figure(claimed, words).holds is False


@pytest.mark.parametrize(
    ("run", "rule", "base", "good", "bad", "words"),
    [
        ("chain, B = 64", "block", "token", 1.15, 1.16, "block / token, B = 64"),
        ("chain, B = 1", "block", "token", 1.15, 1.16, "block / token, B = 1:"),
        ("tree, B = 8", "traversal", "rrs", 1.49, 1.5, "traversal / rrs"),
    ],
)
def test_thresholds_of_ratios(run, rule, base, good, bad, words, claimed):
    points(claimed, run)[f"{base} kernels"]["seconds"] = 1.0
    for value, holds in ((good, True), (bad, False)):
        points(claimed, run)[f"{rule} kernels"]["seconds"] = value
        assert figure(claimed, words).holds is holds


def test_plain_torch_never_stands_for_the_kernels(claimed):
    for point in points(claimed, "chain, B = 1").values():
        point["method"] = point["method"].replace("kernels", "torch")
        point["seconds"] = 1e-6
    assert figure(claimed, "less than 60 us").holds is False


def test_peers_that_are_not_there_settle_nothing(claimed):
    chain = answers(claimed, "kernels")["chain, B = 64"]["points"]
    words = "B = 64: at least as fast"
    assert figure(claimed, words).holds is None
    peer = chain[0] | {"method": "SGLang token", "seconds": None, "note": "not installed"}
    chain.append(peer)
    assert (figure(claimed, words).holds, "SGLang" in figure(claimed, words).measured) == (None, True)
    own = points(claimed, "chain, B = 64")["block kernels"]["seconds"]
    for seconds, holds in ((own, True), (own * 0.99, False)):
        peer["seconds"] = seconds
        assert figure(claimed, words).holds is holds


def test_decisions(claimed):
    assert figure(claimed, "kernels decide").holds
    said = answers(claimed, "verify")["all"]
    said["kernels"]["large"][0]["wrong"] = 1
    assert figure(claimed, "kernels decide").holds is False
    assert figure(claimed, "plain torch").holds
    said["complete"] = False
    assert figure(claimed, "plain torch").holds is None
    said["kernels"]["run"] = "in Triton's interpreter"
    assert figure(claimed, "kernels decide").holds is False


def test_the_sanitizer(claimed):
    words = "out of bounds"
    assert figure(claimed, words).holds
    said = answers(claimed, "sanitizer")["memcheck"]
    said["complete"] = False
    assert figure(claimed, words).holds is None
    said["errors"] = 1
    assert figure(claimed, words).holds is False
    assert figure(claimed, "no race").holds


def test_a_command_that_was_left_out_says_why(claimed):
    runs = claimed["sanitizer"]["runs"]
    runs[0] |= {"answer": None, "status": None, "why": "lacks compute-sanitizer"}
    assert figure(claimed, "out of bounds").measured is None
    assert "| lacks compute-sanitizer |" in report(claimed)


def test_a_repeat_without_an_answer_replaces_none(claimed):
    before = lines(claimed)
    for document in claimed.values():
        document["runs"] += [run | {"answer": None} for run in document["runs"]]
    assert lines(claimed) == before


def test_tests(claimed):
    assert figure(claimed, "tests/gpu pass").holds
    kernels, rest = answers(claimed, "tests").values()
    rest["complete"] = False
    assert figure(claimed, "tests/gpu pass").holds is None
    assert figure(claimed, "a stated result").holds
    kernels["failed"] = ["tests/gpu/kernels/test_extremes.py::test_x"]
    kernels["outcomes"]["FAILED"] = kernels["files"]["tests/gpu/kernels/test_extremes.py"]["FAILED"] = 1
    assert figure(claimed, "a stated result").holds is False
    assert "test_x" in figure(claimed, "tests/gpu pass").measured
    assert figure(claimed, "tests/gpu pass").holds is False


def test_decoding(claimed):
    cells = [cell for each in answers(claimed, "bench").values() for cell in each["cells"] if "steps" in cell]
    for cell in cells:
        cell["over_plain"] = {"value": 1.5, "low": 0.9, "high": 2.0}
        cell["phases"]["verify"] = 0.0199
    assert figure(claimed, "plain decoding").holds is False
    assert figure(claimed, "of a step").holds
    cells[0]["over_plain"]["low"] = 1.1
    cells[0]["phases"]["verify"] = 0.02
    assert figure(claimed, "plain decoding").holds
    assert figure(claimed, "of a step").holds is False
    cells[0]["problems"] = ["E[tau]: measured 1, expected 2"]
    assert figure(claimed, "predicted E[tau] agree in every").holds is False
    for each in answers(claimed, "bench").values():
        each["model"] = "/somewhere/gpu/pair/target"
    shipped = figure(claimed, "plain decoding")
    assert (shipped.holds, "the pair in the package" in shipped.measured) == (None, True)


def test_validation(claimed):
    words = "faults are noticed"
    assert figure(claimed, words).holds
    said = answers(claimed, "validate")["all"]
    said["complete"] = False
    assert figure(claimed, words).holds is None
    said["cells"][0]["problems"] = ["the law is rejected at prompt 1"]
    assert figure(claimed, words).holds is False


def test_a_command_that_gave_nothing_is_not_measured(claimed):
    for document in claimed.values():
        for run in document["runs"]:
            run["answer"] = None
    assert {row[3] for row in lines(claimed)} == {"not measured"}
