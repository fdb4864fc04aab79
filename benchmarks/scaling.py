"""How the cost of exact laws grows in one run: with V, depth, siblings, lanes, denominators and processes.

    python benchmarks/scaling.py > scaling.json

Processor times, the least of three runs; only ratios within a run mean much.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
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


def processes() -> Iterator[list[Any]]:
    """[processes, seconds of the clock] of a grid of 117,649 instances with two verifiers."""
    for jobs in (1, 2):
        command = [sys.executable, "-m", "draftproof", "check", "--grid", "V=2,depth=2,denominator=6"]
        started = perf_counter()
        options = ["--verifier", "block", "--verifier", "traversal", "--jobs", str(jobs)]
        subprocess.run([*command, *options], check=True, capture_output=True)
        yield [jobs, round(perf_counter() - started, 1)]


def main() -> None:
    found = {each.__name__: list(each()) for each in (chains, siblings, in_lanes, processes)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({**found, "peak MiB": peak}, indent=1))


if __name__ == "__main__":
    main()
