"""Verifiers, targets, their helpers and texts are edited between two sweeps; no old verdict is kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[3]
TOKEN = "package/draftproof/theory/verifiers/token.py"
GOOD = """
from ratio import ratio

def verify(target_probs, draft_probs, draft_tokens, rng):
    for i, x in enumerate(draft_tokens):
        if rng.random() >= ratio(target_probs[i][x], draft_probs[i][x]):
            rest = (target_probs[i] - draft_probs[i]).clip(min=0)
            return [*draft_tokens[:i], rng.choice(len(rest), p=rest / rest.sum())]
    return [*draft_tokens, rng.choice(len(target_probs[-1]), p=target_probs[-1])]
"""
RATIO = "def ratio(p, q):\n    return min(1.0, p / q)\n"
OTHER = GOOD.replace("from ratio import ratio\n", RATIO)
OWN = """
from kept import kept
from draftproof.theory.rows import excess, normalise
from draftproof.theory.verifier import CHAIN, Verifier

def verify(oracle, draft, target):
    node, child = draft.path
    p, q = target[node.prefix], node.proposal
    if oracle.accept(kept(p[child.token], q[child.token])):
        return child, target[child.prefix]
    return node, normalise(excess(p, q))

RULE = Verifier("own", "", CHAIN, True, verify)
"""
KEPT = "from draftproof.theory.rows import share\n\ndef kept(p, q):\n    return share(p, q)\n"
FILE = """
[[family]]
metrics = ["check", "gap"]
depths = [1]
verifiers = ["token", "nss", "own.py:RULE"]
rows = {kind = "text", file = "text", histories = 5}

[[family]]
metrics = ["prove"]
depths = [1]
verifiers = ["token", "nss", "own.py:RULE"]

[[family]]
metrics = ["audit"]
depths = [1]
targets = ["mine.py:verify", "other.py:verify"]
rows = {kind = "random", count = 3}
"""
FILES = {
    "mine.py": GOOD,
    "ratio.py": RATIO,
    "other.py": OTHER,
    "own.py": OWN,
    "kept.py": KEPT,
    "text": "abba" * 40,
    "all.toml": FILE,
}
COMMANDS = """
import os, sys
import click, duckdb, filelock, flint, numpy, pyarrow.parquet, pydantic, rich.table, scipy.optimize, z3

for arguments in sys.stdin:  # each in a process of its own, which imports draftproof as it is now
    if (child := os.fork()) == 0:
        out, err, *rest = arguments.split()
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.argv = ["draftproof", *rest]
        import draftproof
        draftproof.main()
    os.waitpid(child, 0)
    print("done", flush=True)
"""
"""Runs command lines without importing the libraries each time."""


class Bench:
    """A copy of the package with a sweep, and a process that runs commands on them."""

    def __init__(self, folder: Path):
        self.folder, self.package = folder, folder / "package" / "draftproof"
        skipped = shutil.ignore_patterns("__pycache__")
        for each in ("theory", "simulators", "proofs_check"):
            shutil.copytree(CLONE / each, self.package / each, ignore=skipped)
        shutil.copy(CLONE / "draftproof.py", self.package / "__init__.py")
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMANDS],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(self.package.parent), "PYTHONDONTWRITEBYTECODE": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[str, str]:
        self.process.stdin.write(" ".join(["out", "err", *arguments]) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"
        return (self.folder / "out").read_text(), (self.folder / "err").read_text()

    def sweep(self, results: str = "r") -> dict:
        out, err = self.run("sweep", "all.toml", "--results", results, "--workers", "1", "--json")
        assert out, err
        answer = json.loads(out)
        assert ("sources have changed" in err) == bool(answer["changed"])
        return answer

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text
        (self.folder / path).write_text(text.replace(old, new))

    def shards(self, results: str = "r") -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / results / "shards").glob("*.parquet")}


def line(answer: dict, metric: str, name: str) -> dict:
    return next(each for each in answer["summary"] if (each["metric"], each["name"]) == (metric, name))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    made = Bench(tmp_path_factory.mktemp("bench"))
    yield made
    made.process.communicate()


def test_what_was_edited_and_nothing_else_is_computed_again(bench):
    first = bench.sweep()
    assert (first["changed"], first["computed"]) == ([], first["chunks"])
    for name in ("token", "own.py:RULE"):
        assert line(first, "check", name)["verdicts"] == {"lossless": 4}
        assert line(first, "prove", name)["verdicts"] == {"proved": 1}
    assert line(first, "audit", "mine.py:verify")["verdicts"] == {"lossless": 3}

    bench.edit(TOKEN, "share(p[x], q[x])", "share(p[x] * p[x], q[x])")
    bench.edit("kept.py", "share(p, q)", "share(p, p)")  # which own.py imports
    bench.edit("ratio.py", "min(1.0, p / q)", "1.0")  # which mine.py imports
    again = bench.sweep()
    assert again["changed"] == ["token", "own.py:RULE", "mine.py:verify"]
    assert again["evaluations"] == 2 * (4 + 4 + 1) + 3, "rows of check, gap and prove, and those of the audit"
    for name in ("token", "own.py:RULE"):
        assert line(again, "check", name)["verdicts"]["lossy"] > 0
        assert line(again, "prove", name)["verdicts"] == {"refuted": 1}
    assert line(again, "audit", "mine.py:verify")["verdicts"]["lossy"] > 0
    assert line(again, "check", "nss") == line(first, "check", "nss")
    assert line(again, "audit", "other.py:verify")["verdicts"] == {"lossless": 3}

    (bench.folder / "text").write_text("abbb" * 40)
    again = bench.sweep()
    assert again["changed"] == ["token", "nss", "own.py:RULE"]
    assert again["evaluations"] == again["rows"] - 9, "all but proofs and audits"

    bench.sweep("whole")
    assert bench.shards() == bench.shards("whole"), "byte for byte what a new folder gives"
