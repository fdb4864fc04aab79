"""What an audit in a process of its own makes of targets that hang in C, die or are not there."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from draftproof.simulators.audit import isolation
from draftproof.simulators.audit.isolation import isolated
from draftproof.simulators.audit.load import Subject
from draftproof.simulators.commands.audit import _examined
from draftproof.theory.errors import BadInput

ROOT = Path(__file__).parents[3]
OPTIONS = {"vocab": 2, "depth": 1, "seconds": 0.5}


def audited(name, progress=lambda *_: None):
    target = f"tests.simulators.audit.foreign:{name}"
    return isolated(_examined, target, OPTIONS["seconds"], progress, Subject(target), OPTIONS)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("waits_in_c", "hangs", "could not be interrupted"),
        ("leaves_at_once", "dies", "exit status 7"),
        ("breaks", "dies", "Segmentation fault"),
    ],
)
@pytest.mark.sampled(3)
def test_a_process_that_does_not_come_back_is_a_finding(name, kind, said):
    report = audited(name)
    assert (report.lossless, report.status) == (False, 1)
    [finding] = report.findings
    assert finding.kind == kind
    assert said in finding.where
    assert "on trial calls" in finding.where


def test_a_crash_while_the_meaning_of_parameters_is_guessed_is_no_finding():
    report = audited("breaks_when_it_is_tried")
    assert (report.lossless, report.status, report.findings) == (None, 3, ())
    assert "Segmentation fault, on calls that try what it takes" in str(report)


DIES = """
import os
from pathlib import Path

def verify(target_probs, draft_probs, draft_tokens, rng):
    mark = Path(__file__).with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        os._exit(3)
    return [int(rng.choice(len(target_probs[0]), p=target_probs[0]))]
"""


def test_a_process_that_dies_once_leaves_the_verdict_open(tmp_path):
    path = tmp_path / "dies.py"
    path.write_text(DIES)
    target = f"{path}:verify"
    report = isolated(_examined, target, 0.5, lambda *_: None, Subject(target), OPTIONS)
    assert report.lossless is None, report
    assert "exit status 3" in report.undecided
    assert "once and not again" in report.undecided


def test_a_good_one_comes_back_whole():
    calls = []
    report = audited("good", lambda *each: calls.append(each))
    assert report.lossless
    assert report.case.instance.vocab == 2
    assert calls[0] == (0, 0, "loading tests.simulators.audit.foreign:good")
    instances, edges = calls[2 : 2 + report.instances], calls[2 + report.instances :]
    assert [done for done, _, _ in instances] == list(range(report.instances))
    assert [done for done, _, _ in edges] == list(range(len(edges)))
    assert all(doing.startswith("coins at the edges, ") for _, _, doing in edges)


def test_an_interrupt_that_the_target_raises_is_one_line_and_no_traceback(capfd):
    with pytest.raises(BadInput, match="it raises: KeyboardInterrupt"):
        audited("interrupts")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import time\ntime.sleep(60)", "importing it took more than 5 s"),
        ("raise KeyboardInterrupt", "cannot be imported: KeyboardInterrupt"),
    ],
)
def test_what_cannot_be_imported_is_bad_input(tmp_path, monkeypatch, capfd, body, said):
    if "sleep" in body:
        monkeypatch.setattr(isolation, "LOADING", 5.0)
    path = tmp_path / "mine.py"
    path.write_text(body, encoding="utf-8")
    target = f"{path}:verify"
    with pytest.raises(BadInput, match=f"^{re.escape(target)}: {said}"):
        isolated(_examined, target, 0.5, lambda *_: None, Subject(target), OPTIONS)
    assert capfd.readouterr() == ("", "")


def test_a_test_on_samples_that_dies_was_loaded():
    target = "tests.simulators.audit.foreign:leaves_at_once"
    more = {**OPTIONS, "statistical": True}
    report = isolated(_examined, target, 0.5, lambda *_: None, Subject(target), more)
    assert report.findings[0].where == "its process ended with exit status 7, on trial calls"


def test_bad_input_comes_back_as_such():
    with pytest.raises(BadInput, match="has no 'nobody'"):
        audited("nobody")


def test_an_interrupt_ends_both_processes(tmp_path):
    module = tmp_path / "slow.py"
    module.write_text(
        f"import os, pathlib, time\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "def verify(p, q, x, rng):\n    time.sleep(60)\n"
    )
    settings = tmp_path / "slow.toml"
    settings.write_text("seconds = 50\n")
    command = [sys.executable, "draftproof.py", "audit", f"{module}:verify", "--settings", str(settings)]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert running.poll() is None
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate()
    assert running.returncode == 130
    assert b"Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
