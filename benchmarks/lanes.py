"""Microseconds an instance: lanes of floats and exact lanes against scalar floats and rationals.

    python benchmarks/lanes.py [--vocab 3] [--depth 2] [--lanes 65536] [--denominator 12]

The same verifier source, all in one run, processor times: completed law, total variation and E[tau] of each
instance by floats and by rationals, whose rows come from a flat Dirichlet law; the exact verdict on each by
exact lanes, whose rows are rounded to the denominator, in pieces of 8,192 as `check --grid` has them.
"""

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np

from draftproof.simulators.instances.randoms import rounded
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.lanes import BATCH, Lanes, decide, measure
from draftproof.simulators.support.make import prefixes, weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS


def many(vocab: int, depth: int, count: int) -> Lanes:
    """Lanes with dense random rows."""
    rng = np.random.default_rng(0)

    def rows(longest: int) -> dict[tuple[int, ...], np.ndarray]:
        every = prefixes(vocab, longest)
        return {prefix: np.ascontiguousarray(rng.dirichlet(np.ones(vocab), count).T) for prefix in every}

    return Lanes(Table(vocab, rows(depth)), Table(vocab, rows(depth - 1)), Chain(depth))


def weights(whole: Lanes, denominator: int) -> Lanes:
    """The lanes with whole-number weights of this sum."""
    tables = (
        Table(table.vocab, {prefix: rounded(np.asarray(row), denominator) for prefix, row in table.given()})
        for table in (whole.target, whole.proposal)
    )
    return Lanes(*tables, whole.draft)


def single(whole: Lanes, lane: int, made: Callable[[list[float]], Row]) -> Instance:
    """One lane as a separate instance, whose rows are `made` from its floats."""

    def table(lanes: Table) -> Table:
        return Table(lanes.vocab, {prefix: made(row[:, lane].tolist()) for prefix, row in lanes.given()})

    return Instance(table(whole.target), table(whole.proposal), whole.draft)


def seconds_each(instances: list[Instance], verifier: Verifier) -> float:
    """Seconds per instance, one after the other."""
    started = process_time()
    for instance in instances:
        emitted = emission(instance, verifier)
        _ = emitted.total_variation, emitted.expected_accepted
    return (process_time() - started) / len(instances)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=3)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--lanes", type=int, default=65536)
    parser.add_argument("--denominator", type=int, default=12)
    arguments = parser.parse_args()
    whole = many(arguments.vocab, arguments.depth, arguments.lanes)
    floats = [single(whole, lane, tuple) for lane in range(200)]
    print(f"V={arguments.vocab} gamma={arguments.depth}, {arguments.lanes:,} lanes")
    whole_numbers = weights(whole, arguments.denominator)
    rationals = [single(whole_numbers, lane, weighted) for lane in range(100)]
    heads = (
        "lanes us",
        "float us",
        "rational us",
        "float/lanes",
        "exact lanes us",
        "primes",
        "rational/exact lanes",
    )
    print(f"{'verifier':<24}" + "".join(f"{head:>{max(12, len(head) + 2)}}" for head in heads))
    for verifier in VERIFIERS.values():
        if "chain" not in verifier.drafts or verifier.ordered or verifier.carry is not None:
            continue
        measure(whole.take(slice(0, 100)), verifier)
        started = process_time()
        measure(whole, verifier)
        lane = (process_time() - started) / whole.count
        scalar, exactly = seconds_each(floats, verifier), seconds_each(rationals, verifier)
        primes, started, undecided = 1, process_time(), 0
        for at in range(0, whole.count, BATCH):
            found = decide(whole_numbers.take(slice(at, at + BATCH)), verifier, primes)
            primes, undecided = found.primes, undecided + int(found.undecided.sum())
        exact = (process_time() - started) / whole.count
        assert not undecided
        print(
            f"{verifier.name:<24}{1e6 * lane:>12.2f}{1e6 * scalar:>12.0f}{1e6 * exactly:>13.0f}"
            f"{scalar / lane:>12.0f}x{1e6 * exact:>16.2f}{primes:>12}{exactly / exact:>21.0f}x"
        )


if __name__ == "__main__":
    main()
