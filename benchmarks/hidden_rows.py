"""The cost of not seeing the rows outside the drafted tree, if one rule must serve many completions.

    python -m benchmarks.hidden_rows --draft paths --count 20

At every prefix that may stay hidden the rows are one of two equally likely random pairs: with three such
prefixes an instance has eight completions. The table has means of E[tau] over completions and instances:

* stateless: a rule for each completion, which knows it;
* partial: the best single rule, which sees rows only on the drafted tree;
* verifiers that also see only these rows.
"""

import argparse
from statistics import fmean

from benchmarks.partial_information import completions, partial_information
from draftproof.simulators.enumerate import emission
from draftproof.simulators.instances.randoms import Dirichlet, Mixed, Randoms
from draftproof.simulators.optimum import stateless
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

DRAFTS = {"tree": Tree(every(2, 2)), "paths": Paths(2, 2)}
NAMES = "traversal", "lifted", "layered"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draft", choices=DRAFTS, default="paths")
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    found: dict[str, list[float]] = {name: [] for name in ("stateless", "partial", *NAMES)}
    others = Randoms(Chain(1), 3, options.count, seed=1, law=Dirichlet(1.0, 0.5, grain=60))
    for instance, other in zip(
        Randoms(DRAFTS[options.draft], 3, options.count, law=Mixed()), others, strict=True
    ):
        family = completions(instance, [(other.target[()], other.proposal[()])])
        found["stateless"].append(fmean(stateless(each).value for each in family))
        found["partial"].append(partial_information(family).value)
        for name in NAMES:
            means = (float(emission(each, named(name)).expected_accepted) for each in family)
            found[name].append(fmean(means))
    base = found["traversal"]
    print(
        f"{options.draft}, V = 3, {options.count} instances\n{'':11}{'E[tau]':>9}{'closed':>9}{'at best':>9}"
    )
    for name, values in found.items():
        closed = sum(a - b for a, b in zip(values, base, strict=True))
        closed /= sum(a - b for a, b in zip(found["partial"], base, strict=True))
        at_best = sum(a > b - 1e-7 for a, b in zip(values, found["partial"], strict=True))
        print(f"{name:11}{fmean(values):9.4f}{closed:9.4f}{at_best:9d}")


if __name__ == "__main__":
    main()
