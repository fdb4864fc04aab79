"""The commands of the three calls, the most important first; and a small version of each."""

import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks.on_gpu.runs import Run

STAGES = "kernels", "verify", "sanitizer", "tests", "bench", "validate"

PARTS = 3
"""Number of calls."""

MODEL = "{model}"
"""Stands in a command for the pair of models."""

SEVERAL = ("-n", "6") if find_spec("xdist") else ()
"""Processes for the tests if pytest-xdist is installed; they share the GPU."""

COMMANDS = "torch", "numpy", "scipy", "click", "rich", "flint"
"""What every `draftproof gpu` command imports."""

OUTCOME = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS"
TEST = re.compile(
    rf"^(?:\[gw\d+\] \[ *\d+%\] (?P<a>{OUTCOME}) (?P<b>tests/.*)"
    rf"|(?P<c>tests/.*) (?P<d>{OUTCOME})(?: \(.*\))?(?: +\[ *\d+%\])?)$"
)
"""A line of pytest's output, with or without several processes."""

SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) ", re.MULTILINE)
"""The last line of compute-sanitizer."""


def parts(small: bool) -> list[list[Run]]:
    """The commands of each call."""
    return _small() if small else _whole()


def _whole() -> list[list[Run]]:
    size = ("--vocab", "131072")
    return [
        [
            _kernels("chain, B = 64", 55, "--draft", "chain:8", *size, "--batch", "64"),
            _kernels("chain, B = 1", 45, "--draft", "chain:8", *size, "--batch", "1"),
            _kernels("tree, B = 8", 50, "--draft", "tree:8", *size, "--batch", "8"),
            _gpu("verify", "all", 180, "verify", least=60),
            _sanitizer("memcheck", 50),
            _tests("kernels", 100, *SEVERAL, "-m", "slow or not slow", "tests/gpu/kernels"),
            _tuning(80),
        ],
        [
            _decoding("chain:4", 60, 3, "--draft", "chain:4", verifiers="token block"),
            _decoding("tree", 60, 4, "--draft", "tree:2x3", verifiers="rrs traversal"),
            _decoding("chain:8", 60, 4, "--draft", "chain:8", verifiers="token block"),
            _tests("the rest", 160, *SEVERAL, "tests/gpu", "--ignore=tests/gpu/kernels"),
        ],
        [
            _validation(130),
            _decoding(
                "block drafter", 50, 3, "--draft", "chain:4", "--drafter", "block", verifiers="token block"
            ),
            _decoding("top-k", 40, 3, "--draft", "top-k:4x4x16", verifiers="one-hot"),
            _sanitizer("racecheck", 40),
            _kernels("grid", 50, least=20),
            _decoding("colder", 60, 2, "--draft", "chain:4", verifiers="token block", heats="0.2 0.6"),
        ],
    ]


def _small() -> list[list[Run]]:
    size = ("--vocab", "256")
    few = ("--runs", "50", "--max-new-tokens", "8", "--top-k", "2", "--length", "2")
    return [
        [
            _kernels("chain, B = 64", 70, "--draft", "chain:8", *size, "--batch", "4"),
            _kernels("chain, B = 1", 70, "--draft", "chain:8", *size, "--batch", "1"),
            _kernels("tree, B = 8", 70, "--draft", "tree:8", *size, "--batch", "1"),
            _gpu("verify", "all", 150, "verify", "--vocab", "1000", small=True),
            _sanitizer("memcheck", 60),
            _tests("kernels", 80, "tests/gpu/kernels/test_extremes.py", "-k", "one_token or names_rows"),
            _tuning(60),
        ],
        [_decoding("tree", 100, 2, "--draft", "tree:2x2", verifiers="rrs traversal", tokens=(1, 16))],
        [
            _decoding("chain:4", 100, 2, "--draft", "chain:4", verifiers="token block", tokens=(1, 16)),
            _validation(120, *few, "--draft", "chain:2", "--verifier", "block"),
            _sanitizer("racecheck", 60),
            _tests("the rest", 80, "tests/gpu/sampling/test_tree.py"),
        ],
    ]


def _gpu(
    stage: str,
    name: str,
    limit: float,
    *arguments: str,
    small: bool = False,
    least: float = 10.0,
    needs: Sequence[str] = (),
) -> Run:
    command = [sys.executable, "-m", "benchmarks.on_gpu.command", *(["--small"] if small else [])]
    wanted = (*COMMANDS, *needs)
    return Run(stage, name, [*command, *arguments, "--json"], limit, least, needs=wanted)


def _kernels(name: str, limit: float, *arguments: str, least: float = 15.0) -> Run:
    command = [sys.executable, "-m", "benchmarks.verification", *arguments, "--json"]
    return Run("kernels", name, command, limit, least, needs=COMMANDS)


def _decoding(
    name: str,
    limit: float,
    repeats: int,
    *arguments: str,
    verifiers: str,
    heats: str = "1",
    tokens: tuple[int, int] = (4, 64),
) -> Run:
    # tokens: number of prompts, tokens of each text.
    count, length = map(str, tokens)
    plan = ("--count", count, "--max-new-tokens", length, "--repeats", str(repeats))
    chosen = [part for each in verifiers.split() for part in ("--verifier", each)]
    chosen += [part for each in heats.split() for part in ("--temperature", each)]
    whole = ("bench", "--model", MODEL, *plan, *chosen, *arguments)
    return _gpu("bench", name, limit, *whole, least=25, needs=("transformers",))


def _validation(limit: float, *arguments: str) -> Run:
    whole = ("validate", "--model", MODEL, *arguments)
    return _gpu("validate", "all", limit, *whole, least=40, needs=("transformers",))


def _tuning(limit: float) -> Run:
    # No figure depends on it: it shows which sizes are best and which kernel takes the time.
    command = [sys.executable, "-m", "benchmarks.on_gpu.kernel_tuning", "--json"]
    return Run("kernels", "sizes", command, limit, 20, needs=("torch", "scipy", "triton"))


def _sanitizer(tool: str, limit: float) -> Run:
    program = [sys.executable, "-m", "benchmarks.on_gpu.launches"]
    command = ["compute-sanitizer", "--tool", tool, *program]
    return Run("sanitizer", tool, command, limit, 20, sanitized, ("compute-sanitizer", "torch", "triton"))


def _tests(name: str, limit: float, *arguments: str) -> Run:
    # A warning from another release of torch is not a failure here.
    pytest = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", "-W", "default"]
    needs = (*COMMANDS, "pytest", "hypothesis")
    return Run("tests", name, [*pytest, *arguments], limit, 20, counted, needs)


def sanitized(output: str) -> dict[str, Any] | None:
    """The errors that compute-sanitizer counted, and what was launched; None if it counted nothing.

    >>> text = "launched block\\nall were launched\\n========= ERROR SUMMARY: 0 errors\\n"
    >>> sanitized(text)
    {'errors': 0, 'launched': ['block'], 'complete': True}
    """
    found = SUMMARY.search(output)
    launched = re.findall(r"^launched ([\w-]+)$", output, re.MULTILINE)
    complete = "all were launched" in output.splitlines()
    return {"errors": int(found[1]), "launched": launched, "complete": complete} if found else None


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
