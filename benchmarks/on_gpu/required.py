"""Every figure that is required, read off the stages' documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.on_gpu.decoding import decoding
from benchmarks.on_gpu.figure import Figure, answer, runs
from benchmarks.on_gpu.timing import timing

LIMIT = 480
"""Seconds in which the pair is to be trained."""


def figures(found: Mapping[str, dict[str, Any]]) -> list[Figure]:
    """In the order of the stages; those that were not measured are among them."""
    return [*_verify(found), *timing(found), *_tests(found), *_train(found), *decoding(found)]


def _verify(found: Mapping[str, Any]) -> Iterator[Figure]:
    said = answer(found, "verify")
    for part, what in ((said, "plain torch"), (said and said["kernels"], "the compiled kernels")):
        required = f"{what} decides as the exact engine, and at large V as float64"
        measured = holds = None
        if part is not None:
            both = part["noise"] + part["large"]
            rows, wrong = (sum(each[key] for each in both) for key in ("rows", "wrong"))
            measured = f"{rows:,} rows, {wrong:,} decided otherwise"
            holds = bool(rows) and wrong == 0 and said.get("complete", True)
            if part is not said:
                measured += f"; {part['run'] or part['skipped']}"
                holds = holds and part["run"] == "compiled"
            elif not said["ok"]:
                measured, holds = f"{measured}; not ok", False
        yield Figure("verify", required, measured, holds)


def _tests(found: Mapping[str, Any]) -> Iterator[Figure]:
    done = [run["answer"] for run in runs(found, "tests") if run["answer"]]
    extremes: dict[str, int] = {}
    for each in done:
        extremes |= each["files"].get("tests/gpu/kernels/test_extremes.py", {})
    every: dict[str, int] = {}
    for each in done:
        for outcome, count in each["outcomes"].items():
            every[outcome] = every.get(outcome, 0) + count
    complete = bool(done) and all(run["answer"] and run["answer"]["complete"] for run in runs(found, "tests"))
    for required, counts, whole in (
        ("NaN, infinities, masked rows, odd ids, no drafts, coins at the ends: a stated result", extremes, True),
        ("tests/gpu pass, kernels compiled", every, complete),
    ):
        if not counts:
            yield Figure("tests", required)
            continue
        bad = counts.get("FAILED", 0) + counts.get("ERROR", 0)
        said = ", ".join(f"{count} {name.lower()}" for name, count in sorted(counts.items()))
        failed = [name for each in done for name in each["failed"]] if counts is every else []
        names = "".join(f"; {name}" for name in failed[:5]) + (" ..." if len(failed) > 5 else "")
        said += names + ("" if whole else "; not all were run")
        yield Figure("tests", required, said, bad == 0 and counts.get("PASSED", 0) > 0 and whole)


def _train(found: Mapping[str, Any]) -> Iterator[Figure]:
    last = next(iter(runs(found, "train")[-1:]), None)
    required = f"a pair of tens of millions of parameters is trained in less than {LIMIT} s"
    if last is None:
        yield Figure("train", required)
    elif last["answer"] is None:
        yield Figure("train", required, f"not finished in {last['seconds']:.0f} s", False)
    else:
        counted = last["answer"]["parameters"]["target"]
        said = f"{last['seconds']:.0f} s, target of {counted / 1e6:.1f} million parameters"
        if last["answer"]["seconds"] == 0:
            yield Figure("train", required, "was trained before, not now")
        else:
            yield Figure("train", required, said, last["seconds"] < LIMIT and counted >= 1e7)
