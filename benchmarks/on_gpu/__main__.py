"""Measures everything that is required of a GPU, within a budget of seconds.

    python -m benchmarks.on_gpu --part 1/3 --out FOLDER [--budget 1800]
    python -m benchmarks.on_gpu STAGE ... --out FOLDER

Without a stage or --part the three parts run one after the other; a call of one part, or of stages by name,
ends within 600 s. Stages, and the parts that they are in:

    kernels    1, 3   time of verification at V = 131,072, also of other packages; other sizes; the whole grid
    verify     1      draftproof gpu verify: torch and the compiled kernels against the exact engine
    sanitizer  1, 3   compute-sanitizer on one small launch of each kernel
    tests      1, 2   the tests of tests/gpu, compiled on the GPU
    bench      2, 3   draftproof gpu bench on the pair of --model: chains and trees
    validate   3      draftproof gpu validate on that pair

Every command runs in a separate process with a time limit. At the limit the process first gets Ctrl-C, so
that finished measurements are kept. The limits add up to the budget: with less, the last commands of a part
are shortened, then dropped, which is said first; time that a command leaves goes to the next ones. A
command that needs a package or program that is missing is left out, in one line.

FOLDER gets three files: results.json, rewritten after each command; run.log; and report.md: the requirements,
the measurements, and whether they hold. --report [OTHER ...] runs nothing: it takes the results of other
folders into FOLDER and rewrites report.md. Without a GPU (also with --device cpu) a small version of every
stage runs as a test, and no figure counts.
"""

import argparse
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.on_gpu import machine
from benchmarks.on_gpu.budget import CALL, RESERVE, carried_out, forecast
from benchmarks.on_gpu.report import report
from benchmarks.on_gpu.runs import Results, Run, documents, written
from benchmarks.on_gpu.stages import MODEL, PARTS, STAGES, parts

INTERRUPTED = 130


def main() -> int:
    started = time.monotonic()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.on_gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="stages to run [default: all]")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results go")
    parser.add_argument("--model", default="shipped", help="target of the stages bench and validate")
    numbers = [f"{number}/{PARTS}" for number in range(1, PARTS + 1)]
    parser.add_argument("--part", choices=numbers, help="run one part")
    parser.add_argument(
        "--budget", type=float, default=PARTS * CALL, metavar="SECONDS", help="[default: 1800]"
    )
    parser.add_argument("--device", choices=["cuda", "cpu"], help="cpu: use no GPU")
    parser.add_argument("--small", action="store_true", help="run the small version even on a GPU")
    parser.add_argument(
        "--report", nargs="*", type=Path, metavar="OTHER", help="run nothing, only rewrite report.md"
    )
    options = parser.parse_args()
    unknown = [name for name in options.stages if name not in STAGES]
    if unknown:
        parser.error(f"no stage is named {unknown[0]!r}; there are {', '.join(STAGES)}")
    if options.stages and options.part:
        parser.error("--part and stages by name exclude each other")
    call = min(CALL, options.budget / (1 if options.stages else PARTS))
    if not call > RESERVE:
        parser.error(f"--budget {options.budget:g}: a call needs more than {RESERVE:.0f} s")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.report is not None:
            _collect(options.out, options.report)
    except (OSError, ValueError) as error:
        parser.error(f"--out {options.out}: {(getattr(error, 'strerror', '') or str(error)).lower()}")
    status = 0
    try:
        if options.report is None:
            _run(options, call, started)
    except KeyboardInterrupt:
        print("interrupted: finished measurements are in the report", file=sys.stderr)
        status = INTERRUPTED
    _write(options.out)
    print((options.out / "report.md").read_text(encoding="utf-8"))
    return status


def _run(options: argparse.Namespace, call: float, started: float) -> None:
    # A shell's background job ignores Ctrl-C, and so would all processes that it starts.
    for ended in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ended, signal.default_int_handler)
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    found = machine.probed()
    small = options.small or not found["gpu"]
    missing = [name for name, number in found["versions"].items() if number == "missing"]
    print(found["name"], f"missing: {', '.join(missing) or 'nothing'}", sep="\n", file=sys.stderr)
    if not found["gpu"]:
        why = f" ({found['error']})" if found.get("error") else ""
        print(f"no GPU is used{why}: a small version of every stage runs, no figure counts", file=sys.stderr)
    results = Results(options.out, found, small)

    def ready(run: Run) -> Run:
        command = [options.model if part == MODEL else part for part in run.command]
        return replace(run, command=command)

    for part in range(PARTS):
        planned = parts(small)
        if options.stages:
            every = {(run.stage, run.name): run for each in planned for run in each}
            planned = [[run for name in options.stages for run in every.values() if run.stage == name]]
        elif options.part and not options.part.startswith(f"{part + 1}/"):
            continue
        runs = planned[0 if options.stages else part]
        lines = forecast(runs, call)
        print(f"{call:.0f} s for {len(runs)} commands", *lines, sep="\n  ", file=sys.stderr, flush=True)
        carried_out(runs, call, results, started, lambda: _write(options.out), ready)
        started = time.monotonic()
        if options.stages:
            break


def _collect(out: Path, others: list[Path]) -> None:
    # The runs of several folders, stage by stage, in the order in which the folders are named.
    stages = documents(out)
    for other in others:
        for stage, document in documents(other).items():
            known = stages.get(stage)
            if known and known["small"] == document["small"]:
                new = [run for run in document["runs"] if run not in known["runs"]]
                document = document | {"runs": [*known["runs"], *new]}
            stages[stage] = document
    if stages:
        written(out, stages)


def _write(out: Path) -> None:
    (out / "report.md").write_text(report(documents(out)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
