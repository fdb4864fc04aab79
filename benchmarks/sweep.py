"""Times of the sweep's float engine and of its store, in one run.

    python -m benchmarks.sweep [--evaluations 1000000]

Completed law, total variation and E[tau] of chains at V = 3, gamma = 2, by ten verifiers. Compared: one
worker and two, with the CPU seconds of the parent and of its workers; the computation alone, and the wall and
CPU time that the store adds (columns, Parquet bytes, files, the disk); and the memory of the computing
process, early and late.
"""

import argparse
import json
import os
import tempfile
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np

from draftproof.simulators.study import runners
from draftproof.simulators.study.configuration import parsed
from draftproof.simulators.study.metrics.check import SCHEMA
from draftproof.simulators.study.plan import METRICS, Chunk, columns, encoded, plan
from draftproof.simulators.study.store import manifest, opened, sweep

VERIFIERS = [
    "block",
    "hsd",
    "hsd-released",
    "naive-tree",
    "nss",
    "one-hot",
    "rrs",
    "sampling-match",
    "token",
    "traversal",
]


def chunks(evaluations: int) -> tuple[list[Chunk], dict]:
    """A plan with this number of evaluations, and its manifest."""
    given = {
        "metrics": ["check"],
        "engine": "float",
        "vocabularies": [3],
        "verifiers": VERIFIERS,
        "rows": {"kind": "dirichlet", "count": evaluations // len(VERIFIERS)},
    }
    entries = parsed(given, METRICS)
    made = plan(entries, METRICS)
    return made, manifest(entries, len(made))


def resident() -> float:
    """Resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


STAGES = ("measuring", "columns", "encoding", "writing")


def stages(work: list[Chunk], folder: Path) -> dict[str, float]:
    """Wall and CPU seconds of each stage of a sweep in one process, and of the whole; also memory use.

    CPU seconds of a stage are those of its thread; the whole includes all threads.
    """
    spent = {f"{stage}{clock}": 0.0 for stage in STAGES for clock in ("", " cpu")}
    memory = []

    begun = perf_counter(), process_time()
    with opened(folder, {"format": 0}) as store:
        for chunk in work:
            marks = [(perf_counter(), thread_time())]
            made: Any = chunk
            for stage in (
                lambda chunk: list(chunk.job.parts()),
                lambda parts: columns(SCHEMA, parts),
                encoded,
                lambda shard: store.keep(chunk.name, shard),  # noqa: B023
            ):
                made = stage(made)
                marks.append((perf_counter(), thread_time()))
            for stage, (a, b) in zip(STAGES, pairwise(marks), strict=True):
                spent[stage] += b[0] - a[0]
                spent[f"{stage} cpu"] += b[1] - a[1]
            memory.append(resident())
    spent |= {"whole": perf_counter() - begun[0], "whole cpu": process_time() - begun[1]}
    quarter = max(1, len(memory) // 4)
    return spent | {"MiB, first quarter": max(memory[:quarter]), "MiB, last quarter": max(memory[-quarter:])}


def clocks() -> tuple[float, float, float]:
    """Wall seconds, CPU seconds of this process, CPU seconds of workers that have ended."""
    children = getrusage(RUSAGE_CHILDREN)
    return perf_counter(), process_time(), children.ru_utime + children.ru_stime


def whole(evaluations: int, workers: int, folder: Path) -> np.ndarray:
    """The cost of a sweep from its configuration to its last shard, including the workers' imports."""
    before = np.array(clocks())
    work, about = chunks(evaluations)
    sweep(work, about, folder, runners.processes(workers))
    return np.array(clocks()) - before


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    evaluations = parser.parse_args().evaluations
    work, _ = chunks(evaluations)
    print(
        f"{evaluations:,} (verifier, instance) evaluations, {len(work)} chunks, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as place:
        spent = stages(work, Path(place) / "stages")
        print(json.dumps({key: round(value, 3) for key, value in spent.items()}))
        wall, cpu = (spent["whole" + clock] / spent["measuring" + clock] - 1 for clock in ("", " cpu"))
        print(f"store over measuring: {100 * wall:.1f} % of wall, {100 * cpu:.1f} % of CPU")
        took: dict[int, list[np.ndarray]] = {1: [], 2: []}
        for number, workers in enumerate((1, 2, 1, 2)):  # alternating, so that a change of load is visible
            took[workers].append(whole(evaluations, workers, Path(place) / str(number)))
            wall, parent, children = took[workers][-1]
            print(f"workers {workers}: {wall:.2f} s; CPU: parent {parent:.2f} s, workers {children:.2f} s")
        (one, *_), (two, parent, children) = (np.min(took[workers], axis=0) for workers in (1, 2))
        print(
            f"two workers are {one / two:.2f}x one; the parent has {100 * parent / (parent + children):.1f} %"
        )
        alone = min(run[1] for run in took[1])
        print(f"CPU time of both allows {2 * alone / (parent + children):.2f}x on two idle cores")


if __name__ == "__main__":
    main()
