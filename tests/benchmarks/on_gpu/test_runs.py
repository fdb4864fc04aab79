"""Commands under a time limit: whatever they do, the folder has what was said until then."""

import json

import click
import pytest

from benchmarks.on_gpu.figure import runs
from benchmarks.on_gpu.runs import Folder, Run
from benchmarks.on_gpu.stages import STAGES, counted, stages
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


def folder(out, stage="verify", small=False):
    return Folder(out, stage, MACHINE, small, grace=0.5)


def kept(out, stage="verify"):
    return json.loads((out / f"{stage}.json").read_text())["runs"]


def test_what_a_command_answers_and_says_is_kept(tmp_path):
    made = folder(tmp_path)
    made.add(Run("one", ["sh", "-c", """echo '{"a": 1}'; echo progress >&2"""], 20))
    made.add(Run("two", ["sh", "-c", "echo lost; echo why >&2; exit 3"], 20))
    one, two = kept(tmp_path)
    assert (one["answer"], one["status"], one["stopped"]) == ({"a": 1}, 0, False)
    assert (two["answer"], two["status"], two["stopped"]) == (None, 3, False)
    log = (tmp_path / "verify.log").read_text()
    assert all(word in log for word in ("progress", "lost", "why", "[exit status 3"))
    assert '{"a": 1}' not in log.replace("echo", "").split("progress")[1]


def test_a_command_that_runs_too_long_is_asked_to_stop_then_made_to(tmp_path):
    made = folder(tmp_path)
    made.add(Run("heeds", ["sh", "-c", HEEDS], 1))
    made.add(Run("deaf", ["sh", "-c", DEAF], 1))
    made.add(Run("next", ["sh", "-c", "echo {}"], 20))
    heeds, deaf, after = kept(tmp_path)
    assert (heeds["answer"], heeds["status"], heeds["stopped"]) == ({"complete": False}, 130, True)
    assert (deaf["answer"], deaf["status"], deaf["stopped"]) == (None, -9, True)
    assert after["answer"] == {}


def test_a_program_that_is_not_there_does_not_end_the_stage(tmp_path):
    made = folder(tmp_path)
    made.add(Run("nowhere", ["/nowhere/python"], 20))
    made.add(Run("next", ["sh", "-c", "echo {}"], 20))
    assert [run["status"] for run in kept(tmp_path)] == [127, 0]
    assert "nowhere" in (tmp_path / "verify.log").read_text()


def test_where_a_command_fails_another_takes_its_place(tmp_path):
    plain = Run("one", ["sh", "-c", "echo '{\"plain\": 1}'"], 20)
    made = folder(tmp_path)
    made.add(Run("one", ["sh", "-c", "echo trace >&2; exit 1"], 20, otherwise=plain))
    made.add(Run("two", ["sh", "-c", 'echo {\\"fine\\": 1}'], 20, otherwise=plain))
    assert [run["status"] for run in kept(tmp_path)] == [1, 0, 0]
    left = {run["name"]: run["answer"] for run in runs({"verify": {"runs": kept(tmp_path)}}, "verify")}
    assert left == {"one": {"plain": 1}, "two": {"fine": 1}}


def test_seconds_of_unfinished_training_are_counted(tmp_path):
    pair = tmp_path / "pair"
    (pair / "work").mkdir(parents=True)
    made = folder(tmp_path, "train")
    assert made.before == 0
    made.add(Run("pair", ["sh", "-c", "exit 1"], 20, before=100))
    assert folder(tmp_path, "train").before >= 100
    assert folder(tmp_path, "train", small=True).before == 0
    (run,) = stages(False, pair, 100)["train"]
    assert run.before == 100
    made.add(Run("pair", ["sh", "-c", "echo '{\"seconds\": 1}'"], 20))
    assert folder(tmp_path, "train").before == 0
    (pair / "work").rmdir()
    (pair / "train.json").write_text("{}")
    assert stages(False, pair)["train"] == []


def test_no_stage_takes_eight_minutes(tmp_path):
    for small in (True, False):
        found = stages(small, tmp_path)
        assert tuple(found) == STAGES
        assert all(sum(run.limit for run in each) < 480 for each in found.values())


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


@pytest.mark.parametrize("small", [True, False])
def test_every_command_is_one_that_draftproof_takes(small, tmp_path):
    pytest.importorskip("torch")  # --no-graphs is carried out when it is read
    parsed = 0
    every = [run for found in stages(small, tmp_path / "pair").values() for run in found]
    for run in every + [run.otherwise for run in every if run.otherwise]:
        _, found, arguments = " ".join(run.command).partition("benchmarks.on_gpu.command ")
        if found:
            name, *options = arguments.removeprefix("--small ").split()
            command = gpu.get_command(click.Context(gpu), name)
            assert command.make_context(name, options).params["as_json"]
            parsed += 1
    assert parsed >= 8
