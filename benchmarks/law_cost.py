"""Cost of the exact one-iteration law of a verifier: time and peak memory against the number of stops.

    python benchmarks/law_cost.py [--verifier block] [--most 65536]

Each size runs in a separate process, so that peak memory belongs to that size. A stop is one way for
drafting and verification to end; the cost per stop should not grow with the number of drafts.
"""

import argparse
import resource
import subprocess
import sys
from random import Random
from time import perf_counter

from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.verifiers import named

SIZES = [
    (2, 4),
    (2, 8),
    (2, 12),
    (2, 15),
    (4, 3),
    (4, 5),
    (4, 7),
    (4, 8),
    (8, 3),
    (16, 2),
    (16, 4),
    (64, 2),
    (256, 2),
]


def instance(vocab: int, depth: int) -> Instance:
    """Full-support rows with weights 1 .. 20, different after every prefix."""
    random = Random(0)

    def row(prefix: tuple[int, ...]) -> Row:
        return weighted([random.randint(1, 20) for _ in range(vocab)])

    return tabulate(vocab, Chain(depth), row, row, "cost")


def one(verifier: str, vocab: int, depth: int) -> str:
    """One line of the table, measured in this process."""
    given, rule = instance(vocab, depth), named(verifier)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = perf_counter()
    emitted = emission(given, rule)
    law = perf_counter() - started
    exact = emitted.total_variation == 0
    whole = perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    drafts, stops = vocab**depth, vocab**depth * (depth + 1)
    return (
        f"{vocab:>5} {depth:>5} {drafts:>8,} {stops:>10,} {law:>9.3f} {whole:>9.3f} "
        f"{1e6 * law / stops:>8.1f} {before:>9.0f} {peak:>8.0f}   {'lossless' if exact else 'lossy'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verifier", default="block")
    parser.add_argument("--most", type=int, default=65536, help="largest number of drafts")
    parser.add_argument("--one", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(one(arguments.verifier, *arguments.one))
        return
    print(
        f"{'V':>5} {'gamma':>5} {'drafts':>8} {'stops':>10} {'law s':>9} {'+ TV s':>9} {'us/stop':>8} "
        f"{'rows MiB':>9} {'peak MiB':>8}   verdict"
    )
    for vocab, depth in SIZES:
        if vocab**depth <= arguments.most:
            command = [
                sys.executable,
                __file__,
                "--verifier",
                arguments.verifier,
                "--one",
                str(vocab),
                str(depth),
            ]
            print(
                subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True
            )


if __name__ == "__main__":
    main()
