"""Everything that is required of a GPU, measured by one command, stage by stage.

    python -m benchmarks.on_gpu [STAGE ...] --out FOLDER

Stages, in the order of what matters most if time runs out (all of them without a name):

    verify    draftproof gpu verify: torch and the compiled kernels beside the exact engine
    kernels   time of verification at V = 131,072, beside peers; then the whole grid
    tests     the tests of tests/gpu, compiled on the GPU
    train     draftproof gpu train --preset gpu; a run that was stopped goes on
    validate  draftproof gpu validate on that pair
    bench     draftproof gpu bench on that pair: chains and trees, temperatures 0.2 to 1

Every command runs in a process of its own with a time limit: when it is over, Ctrl-C is sent first, so that
what was measured is kept. A stage leaves STAGE.json and STAGE.log in FOLDER; after each command report.md is
written anew from all that is there: what is required, what was measured, whether it holds. --report does that
alone. Without a GPU a small version of every stage runs, to see that nothing is broken, and no figure counts.
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
"""Where the pair is trained: git ignores it, and it is too large to be among the results."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.on_gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="which of them [default: all]")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results go")
    parser.add_argument(
        "--pair",
        type=Path,
        default=PAIR,
        metavar="FOLDER",
        help="of the pair that is trained [default: build/pair]",
    )
    parser.add_argument("--small", action="store_true", help="the small version on a GPU, too")
    parser.add_argument("--report", action="store_true", help="run nothing, write report.md anew")
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
        print("interrupted: what was measured is in the report", file=sys.stderr)
        status = INTERRUPTED
    _write(options.out)
    print((options.out / "report.md").read_text(encoding="utf-8"))
    return status


def _run(options: argparse.Namespace) -> None:
    # A shell's job in the background ignores Ctrl-C, and so would all that it starts.
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
            print(f"{name}: {options.pair} is finished; remove it to train anew", file=sys.stderr)
        for run in runs:
            folder.add(run)
            _write(options.out)


def _write(out: Path) -> None:
    (out / "report.md").write_text(report(documents(out)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
