"""Measures everything that is required of a GPU by one command, stage by stage.

    python -m benchmarks.on_gpu [STAGE ...] --out FOLDER

Stages, the most important first (without a name all of them run):

    verify    draftproof gpu verify: torch and the compiled kernels against the exact engine
    kernels   time of verification at V = 131,072, also of other packages; then the whole grid
    tests     the tests of tests/gpu, compiled on the GPU
    train     draftproof gpu train --preset gpu; an interrupted run is continued
    validate  draftproof gpu validate on that pair
    bench     draftproof gpu bench on that pair: chains and trees, temperatures 0.2 to 1

Every command runs in a separate process with a time limit. At the limit the process first gets Ctrl-C, so
that finished measurements are kept. A stage writes STAGE.json and STAGE.log in FOLDER. After each command
report.md is rewritten from all these files: the requirements, the measurements, and whether they hold.
--report only does this. Without a GPU a small version of every stage runs as a test, and no figure counts.
"""

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.on_gpu import machine
from benchmarks.on_gpu.report import documents, report
from benchmarks.on_gpu.runs import Folder
from benchmarks.on_gpu.stages import STAGES, stages

INTERRUPTED = 130

PAIR = machine.ROOT / "build" / "pair"
"""The folder of the trained pair: git ignores it, and it is too large for the results."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.on_gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="stages to run [default: all]")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results go")
    parser.add_argument(
        "--pair",
        type=Path,
        default=PAIR,
        metavar="FOLDER",
        help="folder of the trained pair [default: build/pair]",
    )
    parser.add_argument("--small", action="store_true", help="run the small version even on a GPU")
    parser.add_argument("--report", action="store_true", help="run nothing, only rewrite report.md")
    options = parser.parse_args()
    unknown = [name for name in options.stages if name not in STAGES]
    if unknown:
        parser.error(f"no stage is named {unknown[0]!r}; there are {', '.join(STAGES)}")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out {options.out}: {(error.strerror or str(error)).lower()}")
    status = 0
    try:
        if not options.report:
            _run(options)
    except KeyboardInterrupt:
        print("interrupted: finished measurements are in the report", file=sys.stderr)
        status = INTERRUPTED
    _write(options.out)
    print((options.out / "report.md").read_text(encoding="utf-8"))
    return status


def _run(options: argparse.Namespace) -> None:
    # A shell's background job ignores Ctrl-C, and so would all processes that it starts.
    for ended in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ended, signal.default_int_handler)
    found = machine.probed()
    small = options.small or not found["gpu"]
    print(found["name"], file=sys.stderr)
    if not found["gpu"]:
        why = f" ({found['error']})" if found.get("error") else ""
        print(f"no GPU is used{why}: a small version of every stage runs, no figure counts", file=sys.stderr)
    for name in options.stages or STAGES:
        folder = Folder(options.out, name, found, small)
        runs = stages(small, options.pair.resolve(), folder.before)[name]
        if not runs:
            print(f"{name}: {options.pair} is finished; remove it to train again", file=sys.stderr)
        for run in runs:
            folder.add(run)
            _write(options.out)


def _write(out: Path) -> None:
    (out / "report.md").write_text(report(documents(out)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
