"""The line beside a witness, pasted into a process of its own, emits the wrong tokens again."""

import subprocess
import sys
from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.mutants.functions import residual_from_the_target

ROOT = Path(__file__).parents[4]
WRITTEN = """
import numpy as np

def squared(p, q, x, rng):  # the target's row squared
    return [int(rng.choice(len(p[0]), p=p[0]**2 / (p[0]**2).sum()))]

def reads_digits(p, q, x, rng):  # a coin as a plain number
    return [int(not float(f"{rng.random():.17g}") < p[0][0] ** 2)]

class Second:  # right in its first call only
    def __init__(self):
        self.calls = 0

    def __call__(self, p, q, x, rng):
        self.calls += 1
        return [int(rng.choice(len(p[0]), p=p[0])) if self.calls == 1 else int(np.argmax(p[0]))]

class Drafts:  # drafts itself, and emits what it drafted
    def __call__(self, p, q, x, rng):
        return [int(x[0])]

    def draft(self, row, rng, position):
        return int(rng.choice(len(row), p=row))

def fails(p, q, x, rng):
    if rng.random() < 0.25:
        raise ValueError("a coin below 1/4")
    return [int(rng.choice(len(p[0]), p=p[0]))]

def flat(target, draft, rng):
    row = draft.root.proposal or target[()]
    return [int(rng.choice(len(row), p=row))]

def generate(target, draft, prompt, length):
    import torch
    ids = prompt
    while ids.shape[1] < prompt.shape[1] + length:
        row = draft(ids).logits[0, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(row, 1)[None]], 1)
    return ids[0, prompt.shape[1] :].tolist()
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    token = int(question["uniforms"][0] > question["target_probs"][0][0] ** 2)
    print(json.dumps({"tokens": [token], "used": 1}), flush=True)
"""
TOY = scenario("toy", Chain(1), 2)
TOY_DOCUMENT = {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": [1, 0]}, "draft": "chain:1"}
FEW = {"instances": [TOY], "edges": False, "smallest": False}
GIVEN = {
    "one call": ("mine.py:squared", FEW, (1,)),
    "another dtype": (load.Subject("mine.py:squared", dtype="float32"), FEW, (1,)),
    "several rounds": ("mine.py:squared", FEW | {"iterations": 2}, (1, 1, 1)),
    "a class": ("mine.py:Second", FEW, (1, 1, 1)),
    "it drafts itself": ("mine.py:Drafts", FEW, (0, 0)),
    "bisected coins": ("mine.py:reads_digits", FEW, (1,)),
    "a tree": (load.Subject("mine.py:flat", "tree"), FEW, (0,)),
    "a program": (load.Subject("python3 program.py", "exec"), FEW, (1,)),
}
"""What is audited -> the argument of `load.target`, the options of `examine`, and the tokens emitted."""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(WRITTEN)
    Path("program.py").write_text(PROGRAM)


def pasted(runs) -> list[str]:
    """What the lines of all runs print in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(run.call for run in runs)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def shown(report: audit.Report):
    """The report's run, which the text and the JSON document have."""
    assert report.lossless is False
    assert report.run is not None, report
    assert report.run.call in str(report)
    assert report.to_dict()["replay"]["call"] == report.run.call
    return report.run


def test_every_kind_of_target_in_one_new_process(mine):
    runs = {
        name: shown(audit.examine(load.target(how), **options)) for name, (how, options, _) in GIVEN.items()
    }
    assert "dtype='float32'" in runs["another dtype"].call
    assert "rounds=2" in runs["a class"].call
    assert (runs["bisected coins"].choices, len(runs["bisected coins"].coins)) == ((), 1)
    runs["by its module"] = shown(audit.examine(residual_from_the_target, **FEW))
    assert pasted(runs.values()) == [str(run.emitted) for run in runs.values()]
    assert [run.emitted for run in runs.values()][: len(GIVEN)] == [wanted for *_, wanted in GIVEN.values()]


def test_a_run_that_fails_is_shown(mine):
    run = shown(audit.examine(load.target("mine.py:fails"), **FEW))
    assert (run.emitted, run.fault, run.coins) == (None, "raises: ValueError: a coin below 1/4", (0.2,))
    with pytest.raises(subprocess.CalledProcessError) as raised:
        pasted([run])
    assert "a coin below 1/4" in raised.value.stderr


def test_there_is_none_of_random_runs_and_of_calls_that_hang(mine):
    for options in ({"statistical": True, "runs": 2000}, FEW | {"seconds": 0.2}):
        target = load.target("mine.py:squared")
        if "seconds" in options:
            target.verify = lambda p, q, x, rng: [0 for _ in iter(int, 1)]
            target._called = target.verify
        report = audit.examine(target, **options)
        assert report.lossless is False
        assert report.run is None
        assert "replay" not in report.to_dict()


def test_a_local_function_goes_by_its_name():
    def local(p, q, x, rng):
        return [int(rng.choice(len(p[0]), p=p[0] ** 2 / (p[0] ** 2).sum()))]

    run = shown(audit.examine(local, **FEW))
    assert "dp.replay(local, " in run.call


@pytest.mark.slow
def test_a_loop(mine):
    pytest.importorskip("torch")
    runs = [
        shown(
            audit.examine(
                load.target(load.Subject("mine.py:generate", "loop", dtype=dtype)), vocab=2, depth=1
            )
        )
        for dtype in (None, "float64")
    ]
    assert pasted(runs) == [str(run.emitted) for run in runs]


BAD_ARGUMENTS = [
    {"style": "forest"},
    {"style": "selection"},
    {"style": 3},
    {"style": "exec"},
    {"style": "tree", "drafted": "7"},
    {"drafted": 0},
    {"verify": None},
    {"verify": 3},
    {"verify": ["block"]},
    {"verify": ""},
    {"verify": "block"},
    {"verify": "mine.py:absent"},
    {"verify": "absent.py:flat"},
    {"instance": None},
    {"instance": "toy.json"},
    {"instance": 1.5},
    {"instance": {}},
    {"instance": {"requests": [TOY_DOCUMENT], "selection": {"rule": "tetris", "capacity": 1}}},
    {"coins": None},
    {"coins": 0.5},
    {"coins": [-0.5]},
    {"coins": [1]},
    {"coins": ["0.5"]},
    {"coins": [float("nan")]},
    {"choices": [-1]},
    {"choices": [0.5]},
    {"choices": None},
    {"rounds": 0},
    {"rounds": 1.0},
    {"rounds": None},
    {"dtype": 32},
    {"dtype": "float31"},
]


@pytest.mark.parametrize("bad", BAD_ARGUMENTS, ids=str)
def test_bad_arguments_are_said(mine, bad):
    given = {"verify": "mine.py:squared", "instance": TOY_DOCUMENT, "drafted": "0"} | bad
    with pytest.raises(BadInput, match=r"^[^\n]+$"):
        dp.replay(given.pop("verify"), given.pop("instance"), given.pop("drafted"), **given)
