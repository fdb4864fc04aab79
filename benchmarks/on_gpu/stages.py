"""The stages in order, each a few commands; and a small version of each."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.on_gpu.runs import Run

STAGES = "verify", "kernels", "tests", "train", "validate", "bench"

BESIDE = "chain without graphs"
"""Measured only to show the gain from graphs; it counts for no figure."""

SEVERAL = ("-n", "6") if find_spec("xdist") else ()
"""Processes for the tests if pytest-xdist is installed; they share the GPU."""

OUTCOME = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS"
TEST = re.compile(
    rf"^(?:\[gw\d+\] \[ *\d+%\] (?P<a>{OUTCOME}) (?P<b>tests/.*)"
    rf"|(?P<c>tests/.*) (?P<d>{OUTCOME})(?: \(.*\))?(?: +\[ *\d+%\])?)$"
)
"""A line of pytest's output, with or without several processes."""


def stages(small: bool, pair: Path, before: float = 0.0) -> dict[str, Sequence[Run]]:
    """The stages by name; `before` is the seconds that an unfinished training run has already taken."""
    return _small(pair) if small else _whole(pair, before if (pair / "work").is_dir() else 0.0)


def _train(pair: Path, limit: float, preset: str, small: bool = False, before: float = 0.0) -> list[Run]:
    # Empty if the pair is finished: its time is already known.
    if _finished(pair):
        return []
    return [_gpu("pair", limit, "train", str(pair), "--preset", preset, small=small, before=before)]


def _whole(pair: Path, before: float) -> dict[str, Sequence[Run]]:
    size = ("--vocab", "131072", "--gamma", "8")
    model = ("--model", str(pair) if _finished(pair) else "shipped")
    bench = ("bench", *model, "--count", "4", "--max-new-tokens", "128", "--repeats", "5")
    return {
        "verify": [_gpu("all", 400, "verify")],
        "kernels": [
            _gpu("chain, B = 64", 75, "bench", "--draft", "chain", *size, "--batch", "64"),
            _gpu("chain, B = 1", 60, "bench", "--draft", "chain", *size, "--batch", "1"),
            _gpu("tree, B = 8", 60, "bench", "--draft", "tree", *size, "--batch", "8"),
            _gpu("grid", 150, "bench"),
            _tuning(130),
        ],
        "tests": [
            _tests("kernels", 160, *SEVERAL, "-m", "slow or not slow", "tests/gpu/kernels"),
            _tests("the rest", 160, *SEVERAL, "tests/gpu", "--ignore=tests/gpu/kernels"),
        ],
        "train": _train(pair, 470, "gpu", before=before),
        "validate": [_decoding("all", 330, "validate", *model)],
        "bench": [
            _decoding("chain", 130, *bench, "--draft", "chain:4", "--draft", "chain:8"),
            _decoding("tree", 130, *bench, "--draft", "tree:2x3"),
            _decoding("top-k", 80, *bench, "--draft", "top-k:4x4x16"),
            _gpu(BESIDE, 60, *bench, "--draft", "chain:4", "--verifier", "block", "--no-graphs"),
        ],
    }


def _small(pair: Path) -> dict[str, Sequence[Run]]:
    size = ("--vocab", "256", "--gamma", "8")
    model, verifiers = ("--model", "shipped"), ("token", "block", "rrs", "traversal")
    named = tuple(part for name in verifiers for part in ("--verifier", name))
    bench = ("bench", *model, "--count", "1", "--max-new-tokens", "16", "--repeats", "2", *named)
    few = ("--runs", "50", "--max-new-tokens", "8", "--top-k", "2", "--length", "2", "--no-specimens")
    return {
        "verify": [_gpu("all", 300, "verify", "--vocab", "1000", small=True)],
        "kernels": [
            _gpu("chain, B = 64", 90, "bench", "--draft", "chain", *size, "--batch", "4"),
            _gpu("chain, B = 1", 90, "bench", "--draft", "chain", *size, "--batch", "1"),
            _gpu("tree, B = 8", 90, "bench", "--draft", "tree", *size, "--batch", "1"),
            _tuning(90),
        ],
        "tests": [
            _tests("kernels", 120, "tests/gpu/kernels/test_extremes.py", "-k", "one_token or names_rows"),
            _tests("the rest", 120, "tests/gpu/test_draft.py"),
        ],
        "train": _train(pair.with_name(pair.name + "-small"), 300, "tiny", small=True),
        "validate": [_gpu("all", 240, "validate", *model, *few, "--draft", "chain:2", "--verifier", "block")],
        "bench": [
            _gpu("chain", 180, *bench, "--draft", "chain:4", "--temperature", "1"),
            _gpu("tree", 180, *bench, "--draft", "tree:2x2", "--temperature", "1"),
        ],
    }


def _finished(pair: Path) -> bool:
    return (pair / "train.json").is_file() and not (pair / "work").is_dir()


def _gpu(name: str, limit: float, *arguments: str, small: bool = False, before: float = 0.0) -> Run:
    command = [sys.executable, "-m", "benchmarks.on_gpu.command", *(["--small"] if small else [])]
    return Run(name, [*command, *arguments, "--json"], limit, before=before)


def _decoding(name: str, limit: float, *arguments: str) -> Run:
    # If graphs fail, plain launches can still be measured.
    return replace(_gpu(name, limit, *arguments), otherwise=_gpu(name, limit, *arguments, "--no-graphs"))


def _tuning(limit: float) -> Run:
    # No figure depends on it: it shows which sizes are best and which kernel takes the time.
    return Run("sizes", [sys.executable, "-m", "benchmarks.on_gpu.kernel_tuning", "--json"], limit)


def _tests(name: str, limit: float, *arguments: str) -> Run:
    # A warning from another release of torch is not a failure here.
    pytest = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", "-W", "default"]
    return Run(name, [*pytest, *arguments], limit, counted)


def counted(output: str) -> dict[str, Any] | None:
    """The outcomes in the output of pytest -v, in total and per file; None if no test ran."""
    outcomes: dict[str, int] = {}
    files: dict[str, dict[str, int]] = {}
    failed = []
    for line in output.splitlines():
        found = TEST.match(line)
        if found is None:
            continue
        outcome, name = found["a"] or found["d"], (found["b"] or found["c"]).strip()
        file = files.setdefault(name.partition("::")[0], {})
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        file[outcome] = file.get(outcome, 0) + 1
        if outcome in ("FAILED", "ERROR"):
            failed.append(name)
    if not outcomes:
        return None
    ended = bool(re.search(r"^=+ .*\d+ (passed|skipped|failed|error).* in [\d.]+s", output, re.MULTILINE))
    stopped = re.search(r"^!+ .*(KeyboardInterrupt|Interrupted)", output, re.MULTILINE) is not None
    return {"outcomes": outcomes, "failed": failed, "files": files, "complete": ended and not stopped}
