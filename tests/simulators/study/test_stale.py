"""Verifiers, targets, their helpers and texts are edited between two sweeps; no old verdict is kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[3]
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
FILE = """
[[family]]
metrics = ["check", "gap"]
depths = [1]
verifiers = ["token", "nss"]
rows = {{kind = "text", file = "{here}/text", histories = 5}}

[[family]]
metrics = ["prove"]
depths = [1]
verifiers = ["token", "nss"]

[[family]]
metrics = ["audit"]
depths = [1]
targets = ["{here}/mine.py:verify", "{here}/other.py:verify"]
rows = {{kind = "random", count = 3}}
"""


class Bench:
    """A copy of the package with a sweep, and what the last run of it answered."""

    def __init__(self, folder: Path):
        self.folder, self.package = folder, folder / "package"
        skipped = shutil.ignore_patterns("__pycache__")
        for each in ("theory", "simulators", "proofs_check"):
            shutil.copytree(CLONE / each, self.package / each, ignore=skipped)
        shutil.copy(CLONE / "draftproof.py", self.package)
        for name, text in {
            "mine.py": GOOD,
            "ratio.py": RATIO,
            "other.py": OTHER,
            "text": "abba" * 40,
        }.items():
            (folder / name).write_text(text)
        (folder / "all.toml").write_text(FILE.format(here=folder))

    def sweep(self, results: str = "r") -> dict:
        arguments = ["sweep", "all.toml", "--results", results, "--workers", "1", "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "draftproof", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.package)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert ("sources have changed" in done.stderr) == bool(answer["changed"])
        return answer

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text
        (self.folder / path).write_text(text.replace(old, new))

    def shards(self, results: str = "r") -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / results / "shards").glob("*.parquet")}


def line(answer: dict, metric: str, name: str) -> dict:
    return next(
        each for each in answer["summary"] if (each["metric"], each["name"].split("/")[-1]) == (metric, name)
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def test_what_was_edited_and_nothing_else_is_computed_again(bench):
    first = bench.sweep()
    assert (first["changed"], first["computed"]) == ([], first["chunks"])
    assert line(first, "check", "token")["verdicts"] == {"lossless": 4}
    assert line(first, "audit", "mine.py:verify")["verdicts"] == {"lossless": 3}
    assert (bench.sweep()["evaluations"], bench.sweep()["changed"]) == (0, [])

    bench.edit("package/theory/verifiers/token.py", "share(p[x], q[x])", "share(p[x] * p[x], q[x])")
    again = bench.sweep()
    assert again["changed"] == ["token"]
    assert again["evaluations"] == 4 + 4 + 1, "the rows of token in check, gap and prove"
    assert line(again, "check", "token")["verdicts"]["lossy"] > 0
    assert line(again, "prove", "token")["verdicts"] == {"refuted": 1}
    assert line(again, "check", "nss") == line(first, "check", "nss")
    assert bench.sweep()["evaluations"] == 0

    bench.edit("ratio.py", "min(1.0, p / q)", "1.0")
    again = bench.sweep()
    assert again["changed"] == [f"{bench.folder}/mine.py:verify"]
    assert again["evaluations"] == 3
    assert line(again, "audit", "mine.py:verify")["verdicts"]["lossy"] > 0
    assert line(again, "audit", "other.py:verify")["verdicts"] == {"lossless": 3}

    (bench.folder / "text").write_text("abbb" * 40)
    again = bench.sweep()
    assert (again["changed"], again["evaluations"]) == (["token", "nss"], again["rows"] - 8)

    bench.sweep("whole")
    assert bench.shards() == bench.shards("whole"), "byte for byte what a new folder gives"
