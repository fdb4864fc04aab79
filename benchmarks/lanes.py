"""Microseconds an instance: exact lanes against rationals.

    python benchmarks/lanes.py [--vocab 3] [--depth 2] [--lanes 65536] [--denominator 12]

The same verifier source, all in one run, processor times: the verdict on each instance by rationals, and by
exact lanes, in pieces as `check --grid` has them. A first run, in which the process gets its memory, is not
counted.
Rows come from a flat Dirichlet law, rounded to the denominator.
"""

import argparse
from time import process_time

import numpy as np

from draftproof.simulators.instances.randoms import rounded
from draftproof.simulators.laws.exact_lanes.lanes import BATCH, Lanes, decide
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.support.make import prefixes, weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS


def many(vocab: int, depth: int, count: int, denominator: int) -> Lanes:
    """Lanes with random rows of this denominator."""
    rng = np.random.default_rng(0)

    def table(longest: int) -> Table:
        dense = {prefix: rng.dirichlet(np.ones(vocab), count).T for prefix in prefixes(vocab, longest)}
        return Table(vocab, {prefix: rounded(row, denominator) for prefix, row in dense.items()})

    return Lanes(table(depth), table(depth - 1), Chain(depth))


def single(whole: Lanes, lane: int) -> Instance:
    """One lane as a separate instance."""

    def table(lanes: Table) -> Table:
        rows = {prefix: weighted(row[:, lane].tolist()) for prefix, row in lanes.given()}
        return Table(lanes.vocab, rows)

    return Instance(table(whole.target), table(whole.proposal), whole.draft)


def seconds_each(instances: list[Instance], verifier: Verifier) -> float:
    """Seconds per instance, one after the other."""
    started = process_time()
    for instance in instances:
        judge(instance, verifier)
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
    whole = many(arguments.vocab, arguments.depth, arguments.lanes, arguments.denominator)
    rationals = [single(whole, lane) for lane in range(100)]
    print(f"V={arguments.vocab} gamma={arguments.depth}, {arguments.lanes:,} lanes")
    heads = "rational us", "exact lanes us", "primes", "rational/exact lanes"
    print(f"{'verifier':<24}" + "".join(f"{head:>{max(12, len(head) + 2)}}" for head in heads))
    decide(whole.take(slice(0, BATCH)), VERIFIERS["token"])
    for verifier in VERIFIERS.values():
        if "chain" not in verifier.drafts or verifier.ordered:
            continue
        piece = BATCH // (arguments.vocab**arguments.depth // (32 if verifier.carry is None else 2) or 1)
        exactly = seconds_each(rationals, verifier)
        primes, started, undecided = 0, process_time(), 0
        for at in range(0, whole.count, piece):
            found = decide(whole.take(slice(at, at + piece)), verifier, primes if at else 1)
            primes, undecided = max(found.primes, primes), undecided + int(found.undecided.sum())
        exact = (process_time() - started) / whole.count
        assert not undecided
        print(
            f"{verifier.name:<24}{1e6 * exactly:>13.0f}{1e6 * exact:>16.2f}"
            f"{primes:>12}{exactly / exact:>21.0f}x"
        )


if __name__ == "__main__":
    main()
