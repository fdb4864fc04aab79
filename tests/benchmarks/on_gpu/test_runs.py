"""Commands under a time limit: whatever they do, the folder has what was said until then."""

import json

import click
import pytest

from benchmarks.on_gpu.runs import Results, Run
from benchmarks.on_gpu.stages import MODEL, counted, parts, sanitized
from draftproof.gpu.commands import gpu

MACHINE = {"gpu": False, "name": "CPU"}
HEEDS = """trap 'echo "{\\"complete\\": false}"; exit 130' INT; while :; do sleep 0.05; done"""
DEAF = """trap '' INT; echo half; while :; do sleep 0.05; done"""

TEXT = """
tests/a.py::one PASSED                                                   [ 50%]
tests/a.py::two[x PASSED y] SKIPPED (no GPU)                             [ 75%]
[gw1] [100%] FAILED tests/b.py::three[p q]
============= 1 failed, 1 passed, 1 skipped in 5.20s (0:00:05) =============
"""


def left(seconds):
    return lambda: seconds


def shell(name, script, **about):
    return Run("verify", name, ["sh", "-c", script], 20, **about)


def results(out, small=False):
    return Results(out, MACHINE, small, grace=0.5)


def kept(out, stage="verify"):
    return json.loads((out / "results.json").read_text())[stage]["runs"]


def test_what_a_command_answers_and_says_is_kept(tmp_path):
    made = results(tmp_path)
    made.add(shell("one", """echo '{"a": 1}'; echo progress >&2"""), left(20))
    made.add(shell("two", "echo lost; echo why >&2; exit 3"), left(20))
    one, two = kept(tmp_path)
    assert (one["answer"], one["status"], one["stopped"]) == ({"a": 1}, 0, False)
    assert (two["answer"], two["status"], two["stopped"]) == (None, 3, False)
    log = (tmp_path / "run.log").read_text()
    assert all(word in log for word in ("progress", "lost", "why", "[exit status 3"))
    assert '{"a": 1}' not in log.replace("echo", "").split("progress")[1]


def test_a_command_that_runs_too_long_is_asked_to_stop_then_made_to(tmp_path):
    made = results(tmp_path)
    made.add(shell("heeds", HEEDS, least=1), left(1))
    made.add(shell("deaf", DEAF, least=1), left(1))
    made.add(shell("next", "echo {}"), left(20))
    heeds, deaf, after = kept(tmp_path)
    assert (heeds["answer"], heeds["status"], heeds["stopped"]) == ({"complete": False}, 130, True)
    assert (deaf["answer"], deaf["status"], deaf["stopped"]) == (None, -9, True)
    assert after["answer"] == {}


def test_a_program_that_is_not_there_does_not_end_the_stage(tmp_path):
    made = results(tmp_path)
    made.add(Run("verify", "nowhere", ["/nowhere/python"], 20), left(20))
    made.add(shell("next", "echo {}"), left(20))
    assert [run["status"] for run in kept(tmp_path)] == [127, 0]
    assert "nowhere" in (tmp_path / "run.log").read_text()


def test_what_lacks_something_or_time_is_left_out_in_one_line(tmp_path, capfd):
    made = results(tmp_path)
    made.add(shell("peer", "echo {}", needs=("json", "sh", "no_such_package")), left(20))
    made.add(shell("late", "echo {}", least=15), left(14))
    made.add(shell("next", "echo {}", needs=("json", "sh"), least=15), left(15))
    assert [run["answer"] for run in kept(tmp_path)] == [None, None, {}]
    assert [run.get("why") for run in kept(tmp_path)] == [
        "lacks no_such_package",
        "no time: 14 s of at least 15",
        None,
    ]
    first, second, *_ = capfd.readouterr().err.splitlines()
    assert first == "verify: peer: not run, lacks no_such_package"
    assert second == "verify: late: not run, no time: 14 s of at least 15"


def test_a_later_call_continues_the_file(tmp_path):
    results(tmp_path).add(shell("one", "echo {}"), left(20))
    results(tmp_path).add(shell("two", "echo {}"), left(20))
    assert [run["name"] for run in kept(tmp_path)] == ["one", "two"]
    results(tmp_path, small=True).add(shell("three", "echo {}"), left(20))
    assert [run["name"] for run in kept(tmp_path)] == ["three"]  # small figures never stand beside whole ones


def test_what_pytest_prints_is_counted():
    assert counted(TEXT) == {
        "outcomes": {"PASSED": 1, "SKIPPED": 1, "FAILED": 1},
        "failed": ["tests/b.py::three[p q]"],
        "files": {"tests/a.py": {"PASSED": 1, "SKIPPED": 1}, "tests/b.py": {"FAILED": 1}},
        "complete": True,
    }
    assert counted(TEXT.partition("====")[0])["complete"] is False
    assert counted(TEXT + "!!!!!!! KeyboardInterrupt !!!!!!!")["complete"] is False
    assert counted("no tests ran in 0.1s") is None


def test_what_compute_sanitizer_prints_is_counted():
    said = "========= COMPUTE-SANITIZER\nlaunched one-hot\n"
    errors = "========= ERROR SUMMARY: 2 errors\n"
    hazards = "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    none = {"launched": ["one-hot"], "complete": False}
    assert sanitized(said + errors) == {"errors": 2, **none}
    assert sanitized(said + "all were launched\n" + hazards) == {"errors": 1, **none, "complete": True}
    assert sanitized(said) is None


@pytest.mark.parametrize("small", [True, False])
def test_every_command_is_one_that_draftproof_takes(small):
    pytest.importorskip("torch")  # settings are carried out when they are read
    parsed = 0
    every = [run for part in parts(small) for run in part]
    for run in every:
        _, found, arguments = " ".join(run.command).partition("benchmarks.on_gpu.command ")
        if found:
            arguments = arguments.replace(MODEL, "shipped")
            name, *options = arguments.removeprefix("--small ").split()
            command = gpu.get_command(click.Context(gpu), name)
            assert command.make_context(name, options).params["as_json"]
            parsed += 1
    assert parsed >= 4
