"""Every required figure, from the stages' documents."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.on_gpu.decoding import decoding
from benchmarks.on_gpu.figure import Figure, answer, runs, settled
from benchmarks.on_gpu.timing import timing

EXTREMES = "tests/gpu/kernels/test_extremes.py"


def figures(found: Mapping[str, dict[str, Any]]) -> list[Figure]:
    """The figures in the order of the stages, including those that were not measured."""
    return [*timing(found), *_verify(found), *_sanitizer(found), *_tests(found), *decoding(found)]


def _verify(found: Mapping[str, Any]) -> Iterator[Figure]:
    said = answer(found, "verify")
    parts = {"plain torch decides": said, "the compiled kernels decide": said and said["kernels"]}
    for what, part in parts.items():
        required = f"{what} as the exact engine, and at a large vocabulary as float64"
        if part is None:
            yield Figure("verify", required)
            continue
        both = part["noise"] + part["large"]
        rows, wrong = (sum(each[key] for each in both) for key in ("rows", "wrong"))
        measured = f"{rows:,} rows, {wrong:,} decided otherwise"
        fine = wrong == 0 and rows > 0
        if part is said:
            fine = fine and said["ok"]
        else:
            measured += f"; {part['run'] or part['skipped']}"
            fine = fine and part["run"] == "compiled"
        yield Figure("verify", required, *settled(measured, fine, said["complete"]))


def _sanitizer(found: Mapping[str, Any]) -> Iterator[Figure]:
    for tool, what in (("memcheck", "no access out of bounds"), ("racecheck", "no race")):
        required = f"compute-sanitizer finds {what} in one small launch of each kernel"
        said = answer(found, "sanitizer", tool)
        if said is None:
            yield Figure("sanitizer", required)
            continue
        measured = f"{said['errors']} errors; launched: {', '.join(said['launched'])}"
        yield Figure("sanitizer", required, *settled(measured, said["errors"] == 0, said["complete"]))


def _tests(found: Mapping[str, Any]) -> Iterator[Figure]:
    done = [run["answer"] for run in runs(found, "tests")]
    extremes = [each for each in done if each and EXTREMES in each["files"]]
    required = "NaN, infinities, masked rows, odd ids, no drafts, coins at the ends: a stated result"
    yield _passed(required, extremes, [each["files"][EXTREMES] for each in extremes])
    yield _passed("tests/gpu pass, kernels compiled", done, [each["outcomes"] for each in done if each])


def _passed(required: str, done: list[dict[str, Any] | None], counts: list[dict[str, int]]) -> Figure:
    total: Counter[str] = sum(map(Counter, counts), Counter())
    if not total:
        return Figure("tests", required)
    failed = [name for each in done if each for name in each["failed"]]
    said = ", ".join(f"{count} {name.lower()}" for name, count in sorted(total.items()))
    bad = total["FAILED"] + total["ERROR"]
    if bad:
        said += "".join(f"; {name}" for name in failed[:5]) + " ..." * (len(failed) > 5)
    complete = all(each and each["complete"] for each in done)
    return Figure("tests", required, *settled(said, not bad and total["PASSED"] > 0, complete))
