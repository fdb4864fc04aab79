"""The command from end to end, in its small version; what people see of it."""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import psutil
import pytest

from benchmarks.on_gpu.machine import ROOT
from benchmarks.on_gpu.stages import STAGES

COMMAND = [sys.executable, "-m", "benchmarks.on_gpu"]
BEFORE = {"name": "all", "command": "x", "status": 0, "seconds": 1.0, "stopped": False, "answer": {}}
ABOUT = {"when": "before", "machine": {"name": "CPU", "gpu": False, "versions": {}}}


def run(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("transformers") or not find_spec("triton"), reason="needs the extra gpu")
def test_every_stage_runs_in_its_small_version(tmp_path):
    out = tmp_path / "out"
    done = run("--device", "cpu", "--out", out)
    assert done.returncode == 0, done.stderr
    log = (out / "run.log").read_text()
    assert "Traceback" not in log
    found = json.loads((out / "results.json").read_text())
    assert set(found) == set(STAGES)
    for document in found.values():
        assert document["small"]
        for each in document["runs"]:
            fine = each["status"] == 0 and each["answer"]
            assert each["stopped"] or fine or each["why"].startswith("lacks"), (each, log)
    assert {path.name for path in out.iterdir()} == {"results.json", "run.log", "report.md"}
    page = (out / "report.md").read_text()
    assert done.stdout == page + "\n"
    assert "| yes |" not in page
    assert "**NO**" not in page
    assert all(file.stat().st_size < 16 * 2**20 for file in out.iterdir())


def test_the_report_alone(tmp_path):
    done = run("--report", "--out", tmp_path / "new")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.md"]
    assert "no figure below is one of a GPU" in done.stdout


def test_what_came_back_in_several_folders_is_taken_together(tmp_path):
    for number, stages in enumerate((("verify", "bench"), ("bench",))):
        (tmp_path / str(number)).mkdir()
        each = BEFORE | {"name": f"call {number}", "answer": None}
        found = {stage: {"stage": stage, "small": True, "runs": [each], **ABOUT} for stage in stages}
        (tmp_path / str(number) / "results.json").write_text(json.dumps(found))
    for _ in range(2):  # a second time adds nothing
        done = run("--report", tmp_path / "0", tmp_path / "1", "--out", tmp_path / "all")
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / "all" / "results.json").read_text())
        names = {stage: [each["name"] for each in document["runs"]] for stage, document in found.items()}
        assert names == {"verify": ["call 0"], "bench": ["call 0", "call 1"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense", "--out", "."], "no stage is named 'nonsense'"),
        ([], "--out"),
        (["--report", "--out", "/dev/null/x"], "not a directory"),
        (["verify", "--part", "1/3", "--out", "."], "exclude each other"),
        (["--part", "4/3", "--out", "."], "invalid choice"),
        (["--budget", "120", "--out", "."], "a call needs more than 40 s"),
    ],
)
def test_nonsense_is_one_line(arguments, says):
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr.splitlines()[-1]


def running(process: subprocess.Popen) -> bool:
    """Whether a pytest that the process has started is there."""
    commands = [child.cmdline() for child in psutil.Process(process.pid).children()]
    return any("pytest" in command for command in commands)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_stopped_from_outside_the_report_is_written(sent, tmp_path):
    known = {"verify": {"small": True, "runs": [BEFORE], **ABOUT}}
    (tmp_path / "results.json").write_text(json.dumps(known))
    arguments = ["sanitizer", "tests", "--device", "cpu", "--out", tmp_path]
    child = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    while child.poll() is None and not ((tmp_path / "run.log").is_file() and running(child)):
        time.sleep(0.1)
    time.sleep(0.5)  # the command has begun, and is waited for
    child.send_signal(sent)
    out, _ = child.communicate(timeout=100)
    assert child.returncode == 130
    assert "## What was run" in out
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["verify"] == known["verify"]
    assert not found["tests"]["runs"][0]["stopped"]
