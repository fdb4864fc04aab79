"""The command from end to end, in its small version; what people see of it."""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from benchmarks.on_gpu.machine import ROOT
from benchmarks.on_gpu.stages import STAGES

COMMAND = [sys.executable, "-m", "benchmarks.on_gpu"]


def run(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("transformers") or not find_spec("triton"), reason="needs the extra gpu")
def test_every_stage_runs_in_its_small_version(tmp_path):
    done = run("--small", "--out", tmp_path / "out", "--pair", tmp_path / "pair")
    assert done.returncode == 0, done.stderr
    for stage in STAGES:
        found = json.loads((tmp_path / "out" / f"{stage}.json").read_text())
        log = (tmp_path / "out" / f"{stage}.log").read_text()
        assert found["small"]
        assert "Traceback" not in log
        for each in found["runs"]:
            assert each["stopped"] or (each["status"] == 0 and each["answer"]), (each, log)
    page = (tmp_path / "out" / "report.md").read_text()
    assert done.stdout == page + "\n"
    assert "| yes |" not in page
    assert "**NO**" not in page
    assert all(file.stat().st_size < 1_000_000 for file in (tmp_path / "out").iterdir())


def test_the_report_alone(tmp_path):
    done = run("--report", "--out", tmp_path / "new")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.md"]
    assert "no figure below is one of a GPU" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense", "--out", "."], "no stage is named 'nonsense'"),
        ([], "--out"),
        (["--report", "--out", "/dev/null/x"], "not a directory"),
    ],
)
def test_nonsense_is_one_line(arguments, says):
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_stopped_from_outside_the_report_is_written(sent, tmp_path):
    child = subprocess.Popen(
        [*COMMAND, "tests", "--small", "--out", tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    while not (tmp_path / "tests.log").is_file():
        time.sleep(0.1)
    child.send_signal(sent)
    out, _ = child.communicate(timeout=100)
    assert child.returncode == 130
    assert "## What was run" in out
    (kept,) = json.loads((tmp_path / "tests.json").read_text())["runs"]
    assert not kept["stopped"]
