"""Instances a second: the vectorised engine against the scalar float path and the exact one.

    python benchmarks/lanes.py [--vocab 3] [--depth 2] [--lanes 65536]

The same verifier source, the same instances (rows from a flat Dirichlet law), all in one run:
completed law, total variation and E[tau] of each instance.
"""

import argparse
from collections.abc import Callable
from time import perf_counter

import numpy as np

from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.lanes import Lanes, measure
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


def single(whole: Lanes, lane: int, made: Callable[[list[float]], Row]) -> Instance:
    """One lane as a separate instance, whose rows are `made` from its floats."""

    def table(lanes: Table) -> Table:
        return Table(lanes.vocab, {prefix: made(row[:, lane].tolist()) for prefix, row in lanes.given()})

    return Instance(table(whole.target), table(whole.proposal), whole.draft)


def seconds_each(instances: list[Instance], verifier: Verifier) -> float:
    """Seconds per instance, one after the other."""
    started = perf_counter()
    for instance in instances:
        emitted = emission(instance, verifier)
        _ = emitted.total_variation, emitted.expected_accepted
    return (perf_counter() - started) / len(instances)


def rational(row: list[float]) -> Row:
    """Rationals near a row, in thousandths as a person would write them, divided by their sum."""
    return weighted([round(value * 1000) for value in row])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=3)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--lanes", type=int, default=65536)
    arguments = parser.parse_args()
    whole = many(arguments.vocab, arguments.depth, arguments.lanes)
    floats = [single(whole, lane, tuple) for lane in range(200)]
    exacts = [single(whole, lane, rational) for lane in range(100)]
    print(f"V={arguments.vocab} gamma={arguments.depth}, {arguments.lanes:,} lanes")
    heads = ("lanes us", "float us", "exact us", "float/lanes", "exact/float")
    print(f"{'verifier':<24}" + "".join(f"{head:>12}" for head in heads))
    for verifier in VERIFIERS.values():
        if "chain" not in verifier.drafts or verifier.ordered or verifier.carry is not None:
            continue
        measure(whole.take(slice(0, 100)), verifier)
        started = perf_counter()
        measure(whole, verifier)
        lane = (perf_counter() - started) / whole.count
        scalar, exactly = seconds_each(floats, verifier), seconds_each(exacts, verifier)
        print(
            f"{verifier.name:<24}{1e6 * lane:>12.2f}{1e6 * scalar:>12.0f}{1e6 * exactly:>12.0f}"
            f"{scalar / lane:>11.0f}x{exactly / scalar:>11.2f}x"
        )


if __name__ == "__main__":
    main()
