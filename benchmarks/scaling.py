"""How the cost of exact laws grows in one run: with V, depth, siblings, lanes, denominators and processes, in
time and in memory.

    python -m benchmarks.scaling --out docs/images > scaling.json

Processor times, the least of three runs, but for processes and clusters, whose times are of the clock; only
ratios within a run mean much. `--out` draws the figure of docs/scaling.md (needs matplotlib); clusters need
the extra `dask`, memory Linux.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.law_cost import instance
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.exact_lanes.lanes import decide
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named
from studies.drawing import curves, required, write

CHAINS = ((2, 2), (2, 4), (2, 8), (2, 11), (4, 2), (4, 4), (4, 5), (16, 2), (64, 1), (256, 1))


def least(function: Callable[[], Any]) -> float:
    """The least processor time of three runs."""
    times = []
    for _ in range(3):
        started = process_time()
        function()
        times.append(process_time() - started)
    return min(times)


def chains() -> Iterator[list[Any]]:
    """[V, depth, stops, microseconds a stop] of the rational law of block verification."""
    for vocab, depth in CHAINS:
        given, stops = instance(vocab, depth), vocab**depth * (depth + 1)
        seconds = least(lambda given=given: emission(given, named("block")))
        yield [vocab, depth, stops, round(1e6 * seconds / stops, 1)]


def siblings() -> Iterator[list[Any]]:
    """[verifier, siblings, drafts, milliseconds a law, microseconds a draft] at V = 6."""
    for name in ("rrs", "traversal"):
        for count in (1, 2, 3, 4):
            draft = Tree(every(count, 1))
            given = Randoms(draft, 6, 4, seed=1)[3]
            seconds, drafts = (
                least(lambda given=given, name=name: emission(given, named(name))),
                draft.outcomes(6),
            )
            yield [name, count, drafts, round(1e3 * seconds, 2), round(1e6 * seconds / drafts, 1)]


def in_lanes() -> Iterator[list[Any]]:
    """[V, depth, denominator, lanes, primes, microseconds a verdict] of block verification in exact lanes."""
    for vocab, depth, denominator, count in (
        *((2, 2, 12, count) for count in (64, 256, 1024, 4096, 16384)),
        *((2, 2, denominator, 4096) for denominator in (2, 60, 360)),
        *((2, depth, 12, 4096) for depth in (1, 3)),
        *((vocab, 1, 6, 4096) for vocab in (3, 4)),
    ):
        grid = Grid(Chain(depth), vocab, denominator)
        start = max(0, min(len(grid) // 3, len(grid) - count))
        some = grid.lanes(start, min(start + count, len(grid)))
        primes = decide(some, named("block")).primes
        seconds = least(lambda some=some, primes=primes: decide(some, named("block"), primes))
        yield [vocab, depth, denominator, some.count, primes, round(1e6 * seconds / some.count, 2)]


PEAK = """
from pathlib import Path
from benchmarks.scaling import {name}
for _ in {name}({size}): pass
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024)
"""


def one_law(depth: int) -> Iterator[Any]:
    """The rational law of block verification at V = 2."""
    yield emission(instance(2, depth), named("block"))


def one_piece(count: int) -> Iterator[Any]:
    """Block verification in this many lanes."""
    yield decide(Grid(Chain(2), 2, 12).lanes(0, count), named("block"))


def memory() -> Iterator[list[Any]]:
    """[what, its depth or lanes, MiB]: the most memory of a process that computes one such law or piece."""
    for name, sizes in (("one_law", (6, 9, 11, 13, 14)), ("one_piece", (64, 512, 2048, 8192, 16384))):
        for size in sizes:
            code = PEAK.format(name=name, size=size)
            done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
            yield [name, size, int(done.stdout)]


SWEEP = """
metrics = ["check"]
drafts = ["tree:2x2"]
vocabularies = [3]
verifiers = ["traversal", "rrs", "lifted", "optimal-transport"]
rows = [{ kind = "random", count = 300 }]
"""


def processes() -> Iterator[list[Any]]:
    """[workers, seconds of the clock] of one sweep: processes, then a Dask cluster on this machine."""
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sweep.toml")
        file.write_text(SWEEP, encoding="utf-8")

        def seconds(name: str, *options: str) -> float:
            command = ["sweep", str(file), "--results", str(Path(folder, name)), *options]
            started = perf_counter()
            subprocess.run([sys.executable, "-m", "draftproof", *command], check=True, capture_output=True)
            return round(perf_counter() - started, 1)

        for jobs in (1, 2):
            yield [f"{jobs} process{'es' if jobs > 1 else ''}", seconds(f"own{jobs}", "--workers", str(jobs))]
        for workers in (1, 2):
            with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                address = cluster.scheduler_address
                name = f"Dask, {workers} worker{'s' if workers > 1 else ''}"
                yield [name, seconds(f"dask{workers}", "--scheduler", address)]


def draw(found: dict[str, list[list[Any]]], folder: Path) -> None:
    """The curves of one run."""
    figure = required()(figsize=(9.6, 5.4), layout="constrained")
    panels = figure.subplots(2, 3).flat

    def panel(
        title: str, x: str, y: str, series: dict[str, list[tuple[Any, Any]]], scale: str = "log"
    ) -> None:
        axes = next(panels)
        at = sorted({place for points in series.values() for place, _ in points})
        lines = {name: [dict(points).get(place) for place in at] for name, points in series.items()}
        curves(axes, at, lines, x, y)
        axes.set_title(title, fontsize=9)
        axes.set_xscale(scale, **({"base": 2} if scale == "log" else {}))
        axes.set_yscale("linear" if y == "MiB" else "log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,g}")
            axis.set_minor_formatter("")
        if len(series) > 1:
            axes.legend(fontsize=8)

    chains, lanes = found["chains"], found["in_lanes"]
    panel(
        "rational law, by V",
        "V",
        "us a stop",
        {"block": [(v, us) for v, depth, _, us in chains if depth < 3]},
    )
    laws = [(depth, stops * us / 1000) for v, depth, stops, us in chains if v == 2]
    panel("rational law, V = 2, by depth", "drafted tokens", "ms a law", {"block": laws}, "linear")
    rules = {
        name: [(k, ms) for n, k, _, ms, _ in found["siblings"] if n == name] for name in ("rrs", "traversal")
    }
    panel("siblings without replacement, V = 6", "siblings", "ms a law", rules, "linear")
    many = [(count, us) for v, depth, d, count, _, us in lanes if (v, depth, d) == (2, 2, 12)]
    panel("exact lanes, V = 2, two tokens", "lanes", "us a verdict", {"block": many})
    peaks = {
        "one law, by V^depth": [(2**size, mib) for name, size, mib in found["memory"] if name == "one_law"],
        "lanes, by their number": [(size, mib) for name, size, mib in found["memory"] if name != "one_law"],
    }
    panel("memory of a process", "drafts or lanes", "MiB", peaks)
    axes = next(panels)
    axes.barh(
        [name for name, _ in found["processes"]][::-1], [s for _, s in found["processes"]][::-1], color="0.6"
    )
    axes.set_title("one sweep of 300 trees", fontsize=9)
    axes.set_xlabel("seconds of the clock")
    write(figure, folder / "scaling", 110)


def main() -> None:
    parser = argparse.ArgumentParser(description="How the cost of exact laws grows.")
    parser.add_argument("--out", type=Path, help="folder of the figure")
    out = parser.parse_args().out
    found = {each.__name__: list(each()) for each in (chains, siblings, in_lanes, memory, processes)}
    print(json.dumps(found, indent=1))
    if out:
        draw(found, out)


if __name__ == "__main__":
    main()
