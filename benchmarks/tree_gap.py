"""How much of Traversal Verification's distance to the valid optimum other tree verifiers close.

    python benchmarks/tree_gap.py --draft tree   --count 200
    python benchmarks/tree_gap.py --draft paths  --count 200 --partial 3
    python benchmarks/tree_gap.py --draft tree --vocab 4 --floats

Depth 2; `tree`: binary, without replacement; `paths`: two independent paths. E[tau] of the verifiers is
exact (with --floats: float64), the two optima are linear programs solved by HiGHS:

* stateless: masses f(draft, output) >= 0, output = a drafted prefix and one token; they sum to the draft's
  probability, and, completed by the target, to the target's law; the largest E[tau].
* partial information (--partial C): every depth-1 prefix has C possible pairs of rows, the first one true.
  A verifier sees those of drafted prefixes only and must be valid for every combination; the largest E[tau]
  at the true one. More alternatives can only lower it, so it bounds every verifier that sees no more.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from flint import fmpq
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE)]

from simulators.enumerate import emission, outcomes  # noqa: E402
from theory.draft import Node  # noqa: E402
from theory.drafts.paths import Paths  # noqa: E402
from theory.drafts.tree import Tree  # noqa: E402
from theory.instance import Instance  # noqa: E402
from theory.table import Table  # noqa: E402
from theory.verifiers import named  # noqa: E402

DRAFTS = {
    "tree": Tree((((), ()), ((), ()))),
    "paths": Paths(2, 2),
    "replacement": Tree((((), ()), ((), ())), replacement=True),
    "tree3": Tree(((((), ()), ((), ())), (((), ()), ((), ())))),
    "paths3": Paths(2, 3),
    "three-paths": Paths(3, 2),
    "uneven": Tree((((), ()), ((),))),
}
GRAIN = 60
"""Rows are multiples of 1/GRAIN, so zeros occur."""

Pair = tuple[list[fmpq], list[fmpq]]


def random_row(rng: random.Random, vocab: int, concentration: float) -> list[float]:
    masses = [rng.gammavariate(concentration, 1) + 1e-9 for _ in range(vocab)]
    return [mass / sum(masses) for mass in masses]


def rational(row: list[float]) -> list[fmpq]:
    parts = [round(mass * GRAIN) for mass in row]
    parts[parts.index(max(parts))] += GRAIN - sum(parts)
    return [fmpq(part, GRAIN) for part in parts]


def random_pair(rng: random.Random, vocab: int, p_in: float, q_in: float, far: float) -> Pair:
    """A target row, and a proposal row a fraction `far` of the way from it to an independent one."""
    p, other = random_row(rng, vocab, p_in), random_row(rng, vocab, q_in)
    return rational(p), rational([(1 - far) * a + far * b for a, b in zip(p, other, strict=True)])


def instance(seed: int, draft, vocab: int) -> Instance:
    """One instance of the ensemble: concentrations and distance are mixed over instances."""
    rng = random.Random(seed)
    p_in, q_in = rng.choice([0.3, 1, 3]), rng.choice([0.3, 1, 3])
    far = rng.choice([0.1, 0.25, 0.5, 0.75, 1])
    prefixes = [prefix for depth in range(draft.depth + 1) for prefix in product(range(vocab), repeat=depth)]
    pairs = {prefix: random_pair(rng, vocab, p_in, q_in, far) for prefix in prefixes}
    target = Table.exact(vocab, {prefix: p for prefix, (p, _) in pairs.items()})
    proposal = Table.exact(vocab, {prefix: q for prefix, (_, q) in pairs.items()})
    return Instance(target, proposal, draft, f"seed {seed}")


class Program:
    """A linear program, built term by term."""

    def __init__(self) -> None:
        self.gain: list[float] = []
        self.entries: list[tuple[int, int, float]] = []
        self.right: list[float] = []

    def variable(self, gain: float = 0.0) -> int:
        self.gain.append(gain)
        return len(self.gain) - 1

    def equal(self, terms: list[tuple[int, float]], right: float) -> None:
        self.entries += [(len(self.right), column, value) for column, value in terms]
        self.right.append(right)

    def best(self) -> float:
        rows, columns, values = zip(*self.entries, strict=True)
        matrix = coo_matrix((values, (rows, columns)), shape=(len(self.right), len(self.gain))).tocsr()
        for presolve in (True, False):  # presolve takes rounding in a right side for infeasible
            solved = linprog(
                -np.array(self.gain),
                A_eq=matrix,
                b_eq=self.right,
                method="highs",
                options={"presolve": presolve},
            )
            if solved.status == 0:
                return -solved.fun
        raise RuntimeError(solved.message)


def drafted(*copies: Node) -> dict:
    """The tree drafted below equal nodes, as nested sets: drafts that offer the same outputs are one."""
    children: dict[int, list[Node]] = {}
    for node in copies:
        for child in node.children:
            children.setdefault(child.token, []).append(child)
    return {x: drafted(*nodes) for x, nodes in children.items()}


def merged_drafts(inst: Instance, proposal: Table) -> dict[str, tuple[dict, float]]:
    out: dict[str, tuple[dict, float]] = {}
    for weight, draft in outcomes(lambda oracle: inst.draft.draw(oracle, proposal)):
        tree = drafted(draft.root)
        key = str(sorted_tree(tree))
        out[key] = tree, float(weight) + (out[key][1] if key in out else 0.0)
    return out


def sorted_tree(tree: dict) -> list:
    return sorted((x, sorted_tree(below)) for x, below in tree.items())


def nodes(tree: dict, prefix: tuple = ()) -> Iterator[tuple]:
    yield prefix
    for x, below in tree.items():
        yield from nodes(below, (*prefix, x))


def stateless(inst: Instance) -> float:
    """The valid single-iteration optimum. Stops at full depth need no token: theirs is the target's."""
    depth, vocab, target = inst.draft.depth, inst.vocab, inst.target.floats()
    program = Program()
    words: dict[tuple, list[tuple[int, float]]] = {w: [] for w in product(range(vocab), repeat=depth)}

    def below(prefix: tuple, mass: float) -> Iterator[tuple[tuple, float]]:
        if len(prefix) == depth:
            yield prefix, mass
            return
        for x, share in enumerate(target[prefix]):
            yield from below((*prefix, x), mass * share)

    completed: dict[tuple, list[tuple[tuple, float]]] = {(): list(below((), 1.0))}
    for length in range(1, depth + 1):
        for prefix in product(range(vocab), repeat=length):
            completed[prefix] = list(below(prefix, 1.0))
    for tree, weight in merged_drafts(inst, inst.proposal).values():
        row = []
        for prefix in nodes(tree):
            ends = [prefix] if len(prefix) == depth else [(*prefix, y) for y in range(vocab)]
            for end in ends:
                column = program.variable(len(prefix))
                row.append((column, 1.0))
                for word, share in completed[end]:
                    words[word].append((column, share))
        program.equal(row, weight)
    for word, mass in completed[()]:
        program.equal(words[word], mass)
    return program.best()


def partial(inst: Instance, alternatives: int) -> float:
    """The partial-information optimum over a family of completions; depth 2 only."""
    rng, vocab = random.Random(inst.name), inst.vocab
    pairs = [[(inst.target[i,], inst.proposal[i,])] for i in range(vocab)]
    for i in range(vocab):
        pairs[i] += [random_pair(rng, vocab, 0.3, 0.3, 1.0) for _ in range(alternatives - 1)]
    program = Program()
    columns: dict[tuple, list] = {}  # what the verifier sees -> [(column, token, second token or None)]
    p = [float(mass) for mass in inst.target[()]]
    for labels in product(range(alternatives), repeat=vocab):
        rows = {(i,): pairs[i][label] for i, label in enumerate(labels)}
        target = Table(
            vocab, {(): inst.target[()], **{prefix: tuple(row[0]) for prefix, row in rows.items()}}
        )
        proposal = Table(
            vocab, {(): inst.proposal[()], **{prefix: tuple(row[1]) for prefix, row in rows.items()}}
        )
        words: dict[tuple, list[tuple[int, float]]] = {w: [] for w in product(range(vocab), repeat=2)}
        for key, (tree, weight) in merged_drafts(inst, proposal).items():
            seen = key, tuple((i, labels[i]) for i in sorted(tree))
            if seen not in columns:
                truth = not any(labels[i] for i in tree)
                ends: list[tuple] = [(program.variable(), (y,)) for y in range(vocab)]
                for i, below in tree.items():
                    ends += [(program.variable((1 + (y in below)) * truth), (i, y)) for y in range(vocab)]
                columns[seen] = ends
                program.equal([(column, 1.0) for column, _ in ends], weight)
            for column, end in columns[seen]:
                if len(end) == 2:
                    words[end].append((column, 1.0))
                    continue
                for x, share in enumerate(target[end]):
                    words[*end, x].append((column, float(share)))
        for (i, x), terms in words.items():
            program.equal(terms, p[i] * float(target[i,][x]))
    return program.best()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draft", choices=DRAFTS, default="tree")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--vocab", type=int, default=3)
    parser.add_argument("--verifiers", default="lifted,layered")
    parser.add_argument("--partial", type=int, default=0, metavar="C")
    parser.add_argument("--floats", action="store_true")
    options = parser.parse_args()
    names = options.verifiers.split(",")
    columns = ["traversal", "stateless", *names, *(["partial"] if options.partial else [])]
    table, lossy, start = [], 0, time.perf_counter()
    for seed in range(options.first, options.first + options.count):
        inst = instance(seed, DRAFTS[options.draft], options.vocab)
        run = inst.floats() if options.floats else inst
        emitted = {name: emission(run, named(name)) for name in ["traversal", *names]}
        if not options.floats:
            lossy += sum(e.total_variation != 0 for e in emitted.values())
        values = {name: float(e.expected_accepted) for name, e in emitted.items()}
        values["stateless"] = stateless(inst)
        if options.partial:
            values["partial"] = partial(inst, options.partial)
        table.append([values[name] for name in columns])
    values = np.array(table)
    base, gap = values[:, 0], values[:, 1] - values[:, 0]
    open_ = gap > 1e-9
    print(
        f"{options.draft}, V = {options.vocab}, {len(values)} instances, {open_.sum()} with a gap; "
        f"lossy: {'not tested' if options.floats else lossy}; {time.perf_counter() - start:.0f} s"
    )
    heads = ["E[tau]", "mean", "median", "p10", "min", "of sums", "below", "at 100%"]
    print(" " * 14 + "".join(f"{head:>9}" for head in heads))
    for column, name in enumerate(columns):
        closed = (values[open_, column] - base[open_]) / gap[open_]
        below = (values[:, column] < base - 1e-9).sum()
        of_sums = (values[:, column] - base).sum() / gap.sum()
        numbers = [closed.mean(), np.median(closed), np.quantile(closed, 0.1), closed.min(), of_sums]
        shown = "".join(f"{number:9.4f}" for number in numbers)
        print(f"{name:14}{values[:, column].mean():9.4f}{shown}{below:9d}{(closed > 1 - 1e-7).sum():9d}")


if __name__ == "__main__":
    main()
