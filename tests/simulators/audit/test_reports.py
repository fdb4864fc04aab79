"""What continuous integration reads of an audit: JUnit, SARIF, defaults, and the steps of the action."""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from draftproof.simulators.audit.reports import place

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[3]
RIGHT = """import numpy as np


class Sampler:
    pass


def verify(target_probs, draft_probs, draft_tokens, rng):
    for i, x in enumerate(draft_tokens):
        p, q = target_probs[i], draft_probs[i]
        if not rng.random() < p[x] / q[x]:
            rest = np.maximum(p - q, 0)
            return [*draft_tokens[:i], rng.choice(len(p), p=rest / rest.sum())]
    return [*draft_tokens, rng.choice(len(p), p=target_probs[-1])]
"""
WRONG = RIGHT.replace("p=rest / rest.sum()", "p=p")
STEPS = {each["name"]: each for each in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a right and a wrong sampler."""
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def step(name, project, inputs, **more):
    """The shell of a step, run as a runner runs it."""
    given = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs.get(m[1], ""), value)
             for key, value in STEPS[name]["env"].items()}  # fmt: skip
    (project / "step.sh").write_text(STEPS[name]["run"])
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_ACTION_PATH": str(ROOT),
        **given,
        **more,
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"]
    return subprocess.run(shell, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_action_on_a_right_and_on_a_wrong_sampler(project):
    small = {"options": "--vocab 2 --depth 1"}
    done = step("Audit", project, small | {"targets": "right.py:verify"})
    assert (done.returncode, "::" in done.stdout) == (0, False), done.stdout + done.stderr
    done = step("Audit", project, small | {"targets": "right.py:verify wrong.py:verify"})
    assert done.returncode == 1
    [annotation] = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotation.startswith(
        "::error file=wrong.py,line=8,title=draftproof::wrong.py:verify (numpy function)"
    )
    assert "%0A" in annotation
    summary = (project / "summary.md").read_text()
    assert summary.count("```text") == 3
    assert "NOT lossless" in summary
    assert step("Audit", project, small | {"targets": "right.py:nothing"}).returncode == 2


@pytest.mark.slow
def test_the_action_installs_what_it_runs(project):
    where = project / "python"
    venv.create(where, with_pip=True)
    [site] = where.glob("lib/*/site-packages")
    library = Path(pytest.importorskip("hatchling").__file__).parents[1]
    (site / "beside.pth").write_text(str(library))  # in place of an index
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = {"PATH": f"{where}/bin:/usr/bin:/bin", "PYTHONPATH": "", **offline}
    assert step("Install", project, {}, **path).returncode == 0
    assert (site / "draftproof" / "references.bib").is_file()
    done = step("Audit", project, {"targets": "wrong.py:verify", "options": "--vocab 2"}, **path)
    assert done.returncode == 1
    assert "::error file=wrong.py,line=8" in done.stdout


def test_junit_and_sarif(command, project):
    options = "--vocab", 2, "--depth", 1, "--report", "a.xml", "--report", "b.sarif", "--json"
    status, out, _ = command("audit", "wrong.py:verify", "right.py:verify", *options)
    assert (status, [each["lossless"] for each in json.loads(out)["audits"]]) == (1, [False, True])
    suite = ElementTree.parse("a.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [[each.tag for each in case] for case in suite] == [["failure"], ["system-out"]]
    assert "come out first with probability" in suite[0][0].text
    [run] = json.loads(Path("b.sarif").read_text())["runs"]
    assert [(each["level"], each["kind"]) for each in run["results"]] == [("error", "fail"), ("none", "pass")]
    status, _, err = command("audit", "right.py:verify", "--report", "a.txt")
    assert (status, err) == (2, "draftproof: a.txt: a report ends in .xml or .sarif\n")
    assert command("audit", "right.py:verify", "--report", "no/a.xml")[0] == 2


def test_strict_fails_in_the_files_too(command, project):
    target = "tests.mutants.functions:accepts_at_zero", "--vocab", 2, "--depth", 1, "--report", "a.xml"
    assert command("audit", *target)[0] == 0
    assert ElementTree.parse("a.xml").getroot().get("failures") == "0"
    assert command("audit", *target, "--strict")[0] == 1
    assert ElementTree.parse("a.xml").getroot()[0][0].get("message").startswith("strict: findings fail too")


def test_the_place_of_a_target(project, monkeypatch):
    assert place("right.py:verify") == ("right.py", 8)
    assert place("right.py:Sampler") == ("right.py", 4)
    assert place("right.py:nothing") == ("right.py", 1)
    assert place("no.such.module:verify") == ("no.such.module:verify", 1)
    assert place("json.decoder:JSONDecoder.decode")[0].endswith("json/decoder.py")
    assert place("json.decoder:JSONDecoder.decode")[1] > 300


def test_a_project_s_defaults(command, project):
    table = '[tool.draftproof.audit]\ntargets = ["wrong.py:verify"]\nvocab = 2\nsmallest = false\n'
    Path("pyproject.toml").write_text(table)
    status, out, _ = command("audit", "--json")
    assert (status, json.loads(out)["target"]) == (1, "wrong.py:verify")
    assert json.loads(out)["replay"]["instance"]["target"].keys() > {""}  # was not shrunk
    assert command("audit", "right.py:verify", "--depth", 1)[0] == 0  # the command line comes first
    Path("pyproject.toml").write_text(table.replace("vocab", "vocabb"))
    status, _, err = command("audit")
    message = (
        "draftproof: pyproject.toml: draftproof.audit: no option is named 'vocabb'; did you mean vocab?\n"
    )
    assert (status, err) == (2, message)
    Path("pyproject.toml").write_text(table.replace("= 2", "= x"))
    assert "pyproject.toml: not TOML" in command("audit")[2]
    Path("pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert command("audit")[0] == 2


def test_the_hook_names_a_command_that_runs(project):
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "draftproof"
    command = [sys.executable, "-m", program, *words, "wrong.py:verify", "--vocab", "2"]
    assert subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 1
