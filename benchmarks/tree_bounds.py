"""How near the bounds that a sampled tree shows of itself come to the exact optima.

    python benchmarks/tree_bounds.py --count 40
    python benchmarks/tree_bounds.py --cost

Small instances of the tree gap's ensemble. The bounds are averaged over all drafts, the optima certified;
"above" is the mean of bound over optimum less one, "most" the largest difference in E[tau], "at it" on how
many instances the two are equal within 1e-7. The last column is the mean bound over the best E[tau] that a
verifier here reaches without state (`layered`, exact), less one.

With --cost: processor time of both bounds for a row of a batch of 8 over 1,024 tokens, one thread.
"""

import argparse
import time

import numpy as np
import torch

from draftproof.gpu.draft import Tree as Planned
from draftproof.gpu.exact.bounds import mean_odds
from draftproof.gpu.validate.bounds import tree_odds
from draftproof.simulators.enumerate import emission
from draftproof.simulators.instances.mixed import Mixed
from draftproof.simulators.optimum import full_information, stateless
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

DRAFTS = (
    ("binary, without replacement", Tree(every(2, 2)), 3),
    ("binary, with replacement", Tree(every(2, 2), replacement=True), 3),
    ("two siblings, two below the first", Tree((((), ()), ())), 3),
    ("two siblings with a child each", Tree((((),), ((),))), 3),
    ("two paths", Paths(2, 2), 3),
    ("three paths", Paths(3, 2), 2),
    ("two paths of three", Paths(2, 3), 2),
)


def cost() -> None:
    """Milliseconds a row, the best of three."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    batch, vocab = 8, 1024
    for width, depth in ((2, 2), (2, 3), (3, 2)):
        for replacement in (False, True):
            tree = Planned.of_shape(every(width, depth), replacement)
            target = torch.softmax(3 * torch.randn(batch, tree.size, vocab), -1)
            proposal = torch.softmax(3 * torch.randn(batch, len(tree.inner or ()), vocab), -1)
            tokens = torch.randint(vocab, (batch, tree.size - 1))
            took = []
            for _ in range(3):
                start = time.process_time()
                tree_odds(tree, tree, target, proposal, tokens)
                took.append(time.process_time() - start)
            drawn = "with" if replacement else "without"
            print(f"tree {width}x{depth} {drawn} replacement: {1000 * min(took) / batch:.2f} ms a row")


def nearness(count: int) -> None:
    """One line a draft."""
    heads = ["optimum", "bound", "above", "most", "at it"]
    print(" " * 35 + f"  V{'stateless':>25}{'full information':>41}")
    print(" " * 38 + "".join(f"{head:>8}" for head in heads * 2) + f"{'layered':>9}")
    start, error = time.perf_counter(), 0.0
    for name, scheme, vocab in DRAFTS:
        rows = []
        for instance in Mixed(scheme, vocab, count):
            best, whole = stateless(instance), full_information(instance)
            error = max(error, best.error)
            reached = emission(instance, named("layered")).expected_accepted
            bounds = [float(odds.sum()) for odds in mean_odds(instance)]
            rows.append([best.value, bounds[0], float(whole.value), bounds[1], float(reached)])
        values = np.array(rows)
        shown = ""
        for optimum, bound in (values[:, :2].T, values[:, 2:4].T):
            over = (bound / optimum - 1).mean()
            shown += f"{optimum.mean():8.4f}{bound.mean():8.4f}{over:8.2%}"
            shown += f"{(bound - optimum).max():8.4f}{(bound < optimum + 1e-7).sum():8d}"
        print(f"{name:35}{vocab:3d}{shown}{values[:, 1].mean() / values[:, 4].mean() - 1:9.2%}", flush=True)
    took = time.perf_counter() - start
    print(f"{count} instances each, stateless optima to {error:.0e}; {took:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()
    if options.cost:
        cost()
    else:
        nearness(options.count)


if __name__ == "__main__":
    main()
