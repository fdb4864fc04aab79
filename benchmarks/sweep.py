"""The sweep's float engine and its store, side by side in one run.

    python -m benchmarks.sweep [--evaluations 1000000]

Completed law, total variation and E[tau] of chains at V = 3, gamma = 2, by ten verifiers. Compared:
one worker and two; the jobs alone, with their Parquet bytes, and with the files on the disk; and the
memory of the process that computes, early and late.
"""

import argparse
import json
import os
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

from simulators.sweep import runners
from simulators.sweep.configuration import parsed
from simulators.sweep.manifest import manifest
from simulators.sweep.plan import METRICS, Chunk, encoded, plan
from simulators.sweep.store import opened
from simulators.sweep.sweep import sweep

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
    """The plan of so many evaluations, and its manifest."""
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
    """MiB that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def store_overhead(work: list[Chunk], folder: Path) -> dict[str, float]:
    """CPU and wall seconds of the jobs, of making Parquet of them, and of keeping it; memory on the way."""
    spent = dict.fromkeys(("jobs", "jobs cpu", "encoding", "encoding cpu", "keeping", "keeping cpu"), 0.0)
    memory = []
    with opened(folder, {"format": 0}) as store:
        for chunk in work:
            marks = [(perf_counter(), process_time())]
            table = chunk.job()
            marks.append((perf_counter(), process_time()))
            shard = encoded(table)
            marks.append((perf_counter(), process_time()))
            store.keep(chunk.name, shard)
            marks.append((perf_counter(), process_time()))
            for part, (a, b) in zip(("jobs", "encoding", "keeping"), pairwise(marks), strict=True):
                spent[part] += b[0] - a[0]
                spent[f"{part} cpu"] += b[1] - a[1]
            memory.append(resident())
    quarter = max(1, len(memory) // 4)
    return spent | {"MiB, first quarter": max(memory[:quarter]), "MiB, last quarter": max(memory[-quarter:])}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    arguments = parser.parse_args()
    work, about = chunks(arguments.evaluations)
    evaluations = sum(chunk.job.evaluations for chunk in work)
    print(
        f"{evaluations:,} (verifier, instance) evaluations, {len(work)} chunks, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as place:
        parts = store_overhead(work, Path(place) / "parts")
        store = parts["encoding"] + parts["keeping"]
        cpu = parts["encoding cpu"] + parts["keeping cpu"]
        print(json.dumps({key: round(value, 3) for key, value in parts.items()}))
        wall, cpu = store / parts["jobs"], cpu / parts["jobs cpu"]
        print(f"store over jobs: {100 * wall:.1f} % of wall, {100 * cpu:.1f} % of CPU")
        took = {}
        for workers in (1, 2, 1, 2):  # in turns, so that a change of load shows
            folder = Path(tempfile.mkdtemp(dir=place))
            started = perf_counter()
            sweep(work, about, folder / "r", runners.processes(workers))
            took.setdefault(workers, []).append(perf_counter() - started)
        print(f"one worker {took[1]}, two workers {took[2]} s")
        print(f"two workers are {min(took[1]) / min(took[2]):.2f}x one")


if __name__ == "__main__":
    main()
