"""The share of Traversal Verification's distance to the valid optimum that other tree verifiers close.

    python -m benchmarks.tree_gap --draft tree
    python -m benchmarks.tree_gap --draft paths --partial 3
    python -m benchmarks.tree_gap --draft tree --vocab 4 --floats
    python -m benchmarks.tree_gap --draft 'tree:[[[]],[]]' --vocab 2 --verifiers layered,layered-leaves

`tree`: binary, depth 2, without replacement; `paths`: two independent paths of depth 2. E[tau] of the
verifiers is exact (with --floats: float64). The optima are

* stateless: the best of all verifiers that are lossless in one iteration, certified to the error printed;
* partial (--partial C): the best of those that see rows only on the drafted tree and are valid for every
  completion of a family (the true rows or one of C - 1 random pairs at every prefix that may stay hidden);
  its E[tau] is that on the true rows, in floats.
"""

import argparse
import time

import numpy as np
from flint import fmpq

from benchmarks.partial_information import completions, partial_information
from draftproof.simulators.instances.randoms import Dirichlet, Mixed, Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import stateless
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import named

DRAFTS = {
    "tree": Tree(every(2, 2)),
    "paths": Paths(2, 2),
    "replacement": Tree(every(2, 2), replacement=True),
    "tree3": Tree(every(2, 3)),
    "paths3": Paths(2, 3),
    "three-paths": Paths(3, 2),
    "uneven": Tree((((), ()), ((),))),
}
OPEN = 1e-7
"""Distances below this count as zero; the certified errors are smaller."""


def partial(instance: Instance, seed: int, choices: int) -> float:
    """The partial-information optimum at the true rows, over completions with `choices` pairs a prefix."""
    others = Randoms(Chain(1), instance.vocab, choices - 1, seed, Dirichlet(0.3, 1.0, grain=60))
    family = completions(instance, [(other.target[()], other.proposal[()]) for other in others])
    return partial_information(family, [fmpq(n == 0) for n in range(len(family))])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draft", default="tree", help=f"{', '.join(DRAFTS)}, or as in the command line")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first instance")
    parser.add_argument("--vocab", type=int, default=3)
    parser.add_argument("--verifiers", default="rrs,optimal-transport,lifted,layered")
    parser.add_argument("--partial", type=int, default=0, metavar="C")
    parser.add_argument("--floats", action="store_true")
    options = parser.parse_args()
    names = ["traversal", *options.verifiers.split(",")]
    columns = ["traversal", "stateless", *names[1:], *(["partial"] if options.partial else [])]
    table, lossy, error, start = [], 0, 0.0, time.perf_counter()
    last = options.first + options.count
    draft = DRAFTS[options.draft] if options.draft in DRAFTS else scheme(options.draft)
    family = Randoms(draft, options.vocab, last, law=Mixed())
    for number in range(options.first, last):
        instance = family[number]
        run = instance.floats() if options.floats else instance
        emitted = {name: emission(run, named(name)) for name in names}
        lossy += not options.floats and sum(each.total_variation != 0 for each in emitted.values())
        values = {name: float(each.expected_accepted) for name, each in emitted.items()}
        best = stateless(instance)
        values["stateless"], error = best.value, max(error, best.error)
        if options.partial:
            values["partial"] = partial(instance, number, options.partial)
        table.append([values[key] for key in columns])
    values = np.array(table)
    base, gap = values[:, 0], values[:, 1] - values[:, 0]
    open_ = gap > OPEN
    print(
        f"{options.draft}, V = {options.vocab}, {len(values)} instances, {open_.sum()} with a gap; "
        f"lossy: {'not tested' if options.floats else lossy}; optima to {error:.0e}; "
        f"{time.perf_counter() - start:.0f} s"
    )
    heads = ["E[tau]", "mean", "median", "p10", "min", "of sums", "below", "at 100%"]
    print(" " * 17 + "".join(f"{head:>9}" for head in heads))
    for column, name in enumerate(columns):
        closed = (values[open_, column] - base[open_]) / gap[open_]
        below = (values[:, column] < base - 1e-9).sum()
        of_sums = (values[:, column] - base).sum() / gap.sum()
        numbers = [closed.mean(), np.median(closed), np.quantile(closed, 0.1), closed.min(), of_sums]
        shown = "".join(f"{number:9.4f}" for number in numbers)
        print(f"{name:17}{values[:, column].mean():9.4f}{shown}{below:9d}{(closed > 1 - 1e-6).sum():9d}")


if __name__ == "__main__":
    main()
