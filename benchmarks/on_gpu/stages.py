"""The stages, in order, each a few commands; and the small version of each."""

import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.on_gpu.runs import Run

STAGES = "verify", "kernels", "tests", "train", "validate", "bench"

TEST = re.compile(
    r"^(?:\[gw\d+\] \[ *\d+%\] (?P<a>[A-Z]+) (?P<b>tests/.*)|(?P<c>tests/.*?) (?P<d>[A-Z]+)(?: .*)?)$"
)
"""A line of pytest's, spread over processes or not."""


def stages(small: bool, pair: Path, before: float = 0.0) -> dict[str, Sequence[Run]]:
    """By name; `before` is what an unfinished training run has already taken."""
    return _small(pair) if small else _whole(pair, before if (pair / "work").is_dir() else 0.0)


def _train(pair: Path, limit: float, preset: str, small: bool = False, before: float = 0.0) -> list[Run]:
    # Nothing where that pair is finished: its time is known already.
    if _finished(pair):
        return []
    return [_gpu("pair", limit, "train", str(pair), "--preset", preset, small=small, before=before)]


def _whole(pair: Path, before: float) -> dict[str, Sequence[Run]]:
    size = ("--vocab", "131072", "--gamma", "8")
    model = ("--model", str(pair) if _finished(pair) else "shipped")
    bench = ("bench", *model, "--count", "4", "--max-new-tokens", "128", "--repeats", "5")
    return {
        "verify": [_gpu("all", 460, "verify")],
        "kernels": [
            _gpu("chain, B = 64", 90, "bench", "--draft", "chain", *size, "--batch", "64"),
            _gpu("chain, B = 1", 60, "bench", "--draft", "chain", *size, "--batch", "1"),
            _gpu("tree, B = 8", 60, "bench", "--draft", "tree", *size, "--batch", "8"),
            _gpu("grid", 240, "bench"),
        ],
        "tests": [
            _tests("kernels", 240, "tests/gpu/kernels"),
            _tests("the rest", 220, "tests/gpu", "--ignore=tests/gpu/kernels"),
        ],
        "train": _train(pair, 470, "gpu", before=before),
        "validate": [_gpu("all", 460, "validate", *model)],
        "bench": [
            _gpu("chain", 160, *bench, "--draft", "chain:4", "--draft", "chain:8"),
            _gpu("tree", 180, *bench, "--draft", "tree:2x3"),
            _gpu("top-k", 100, *bench, "--draft", "top-k:4x4x16"),
        ],
    }


def _small(pair: Path) -> dict[str, Sequence[Run]]:
    size = ("--vocab", "4096", "--gamma", "8")
    model, verifiers = ("--model", "shipped"), ("token", "block", "rrs", "traversal")
    named = tuple(part for name in verifiers for part in ("--verifier", name))
    bench = ("bench", *model, "--count", "2", "--max-new-tokens", "24", "--repeats", "2", *named)
    few = ("--runs", "100", "--max-new-tokens", "12", "--top-k", "2", "--length", "2", "--no-specimens")
    return {
        "verify": [_gpu("all", 300, "verify", "--vocab", "1000", small=True)],
        "kernels": [
            _gpu("chain, B = 64", 60, "bench", "--draft", "chain", *size, "--batch", "4"),
            _gpu("chain, B = 1", 60, "bench", "--draft", "chain", *size, "--batch", "1"),
            _gpu("tree, B = 8", 60, "bench", "--draft", "tree", *size, "--batch", "1"),
            _gpu("grid", 60, "bench", "--vocab", "256"),
        ],
        "tests": [
            _tests("kernels", 200, "tests/gpu/kernels/test_extremes.py", "-k", "ids or nothing"),
            _tests("the rest", 100, "tests/gpu/test_rows.py"),
        ],
        "train": _train(pair.with_name(pair.name + "-small"), 300, "tiny", small=True),
        "validate": [_gpu("all", 200, "validate", *model, *few, "--draft", "chain:3", *named[:4])],
        "bench": [
            _gpu("chain", 120, *bench, "--draft", "chain:4", "--temperature", "1"),
            _gpu("tree", 120, *bench, "--draft", "tree:2x3", "--temperature", "1"),
        ],
    }


def _finished(pair: Path) -> bool:
    return (pair / "train.json").is_file() and not (pair / "work").is_dir()


def _gpu(name: str, limit: float, *arguments: str, small: bool = False, before: float = 0.0) -> Run:
    door = [sys.executable, "-m", "benchmarks.on_gpu.door", *(["--small"] if small else [])]
    return Run(name, [*door, *arguments, "--json"], limit, before=before)


def _tests(name: str, limit: float, *arguments: str) -> Run:
    # A warning of another release of torch is no failure here. xdist: many processes share the GPU.
    several = ["-n", "6"] if find_spec("xdist") else []
    pytest = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", "-W", "default"]
    return Run(name, [*pytest, *several, *arguments], limit, counted)


def counted(said: str) -> dict[str, Any] | None:
    """What pytest -v printed, by outcome; None where no test ran.

    >>> counted("tests/a.py::x PASSED [ 50%]\\n[gw1] [100%] FAILED tests/b.py::y[p q] \\n")
    {'outcomes': {'PASSED': 1, 'FAILED': 1}, 'failed': ['tests/b.py::y[p q]'], 'files': {'tests/a.py': {'PASSED': 1}, 'tests/b.py': {'FAILED': 1}}, 'complete': False}
    """
    outcomes: dict[str, int] = {}
    files: dict[str, dict[str, int]] = {}
    failed = []
    for line in said.splitlines():
        found = TEST.match(line)
        if found is None:
            continue
        outcome, name = found["a"] or found["d"], (found["b"] or found["c"]).strip()
        file = files.setdefault(name.partition("::")[0], {})
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        file[outcome] = file.get(outcome, 0) + 1
        if outcome in ("FAILED", "ERROR"):
            failed.append(name)
    complete = bool(re.search(r"^=+ .*\d+ (passed|skipped).* in [\d.]+s", said, re.MULTILINE))
    if not outcomes:
        return None
    return {
        "outcomes": outcomes,
        "failed": failed,
        "files": files,
        "complete": complete and "Interrupted" not in said,
    }
