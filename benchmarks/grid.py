"""The exhaustive grid of all instances V = 2, gamma = 2, D = 6, in exact rationals, on every core.

    python benchmarks/grid.py [--verifier block] [--jobs 2]

117,649 instances: three rows of the target and three of the proposal, seven rows each.
"""

import argparse
from time import perf_counter

from draftproof.simulators.check import pieces, run
from draftproof.simulators.instances.grids import Grid
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import named


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verifier", default="block")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    started = perf_counter()
    work = list(pieces([Grid(Chain(2), 2, 6)], [named(arguments.verifier)]))
    verdicts = [verdict for _, found in run(work, arguments.jobs) for _, verdict in found]
    lossless = sum(verdict.lossless for verdict in verdicts)
    seconds = perf_counter() - started
    print(f"{arguments.verifier}: {lossless:,} of {len(verdicts):,} lossless")
    print(f"{seconds:.1f} s on {arguments.jobs} processes")


if __name__ == "__main__":
    main()
