"""E[tau] of trees of N tokens on a real pair: best-first strata beside top-k, fixed, binary and uneven trees.

    python benchmarks/budgets.py --prompts 40

The target continues each prompt by itself. At places of each continuation every design draws one tree, and
its E[tau] is the mean over the verifier's coins, given that tree. Intervals are clustered by prompt; the last
column is the paired difference to best-first strata, in accepted tokens a step.
"""

import argparse
import heapq
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.prompts import prompts
from draftproof.gpu.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.simulators.study import designs
from draftproof.simulators.study.recorded import half_width
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.shape import Shape, chain
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree

TOKENS, EVERY = 24, 12
"""How far the target continues a prompt, and how often a tree is drafted."""

ACCEPTED = 0.7, 0.15, 0.06, 0.03
"""Of the uneven trees: how often the first, second, .. sibling is expected to be the accepted one."""

WIDTH, LEVELS = 8, 8
"""EAGLE-2's growth: nodes that are expanded a level, and levels."""


class Model:
    """Rows after a context by drafted prefix, each read once."""

    def __init__(self, model, text, sampling):
        self.model, self.text, self.sampling, self.seen = model, text, sampling, {}

    def __getitem__(self, prefix):
        return tuple(self.array(prefix).tolist())

    def array(self, prefix) -> np.ndarray:
        if prefix not in self.seen:
            ids = torch.tensor([[*self.text, *prefix]])
            with torch.no_grad():
                logits = self.model.network(ids).logits[0, -1:, : self.model.vocab]
            row = self.sampling.rows(logits)[0].double().numpy()
            self.seen[prefix] = row / row.sum()
        return self.seen[prefix]


class Chance:
    """The oracle of a random generator."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def choose(self, row) -> int:
        mass = np.cumsum(row)
        return int(np.searchsorted(mass, self.rng.random() * mass[-1], side="right"))

    def accept(self, probability) -> bool:
        return self.rng.random() < probability


# Shapes and drafts of N tokens.


def built(children: dict[int, list[int]], at: int = 0) -> Shape:
    return tuple(built(children, child) for child in children[at])


def binary(n: int) -> Shape:
    """Two children a node, breadth first."""
    return built({i: [j for j in (2 * i + 1, 2 * i + 2) if j <= n] for i in range(n + 1)})


def uneven(n: int) -> Shape:
    """The shape of largest E[tau] where siblings are accepted at the rates ACCEPTED (chen2024sequoia)."""
    children: dict[int, list[int]] = {0: []}
    reach = {0: 1.0}
    heap = [(-ACCEPTED[0], 0, 0)]
    for i in range(1, n + 1):
        value, parent, j = heapq.heappop(heap)
        children[parent].append(i)
        children[i], reach[i] = [], -value
        heapq.heappush(heap, (-reach[i] * ACCEPTED[0], i, 0))
        if j + 1 < len(ACCEPTED):
            heapq.heappush(heap, (-reach[parent] * ACCEPTED[j + 1], parent, j + 1))
    return built(children)


def of_prefixes(q: Model, kept: set, prefix: tuple = ()) -> Node:
    children = sorted(each for each in kept if each[:-1] == prefix and each)
    below = tuple(of_prefixes(q, kept, child) for child in children)
    return Node(prefix, q[prefix] if children else None, below)


def ddtree(q: Model, n: int) -> Draft:
    """The n likeliest prefixes of the drafter, best first: DDTree, on rows that depend on the path."""
    kept: set[tuple] = set()
    heap: list[tuple[float, tuple]] = [(-1.0, ())]
    while len(kept) <= n:
        value, prefix = heapq.heappop(heap)
        kept.add(prefix)
        row = q.array(prefix)
        for x in np.argsort(-row, kind="stable")[:n]:
            heapq.heappush(heap, (float(value * row[x]), (*prefix, int(x))))
    return Draft(of_prefixes(q, kept))


def eagle2(q: Model, n: int) -> Draft:
    """The WIDTH likeliest nodes of each level are expanded; the n likeliest of all stay (li2024eagle2)."""
    found: list[tuple[float, tuple]] = []
    level: list[tuple[float, tuple]] = [(1.0, ())]
    for _ in range(LEVELS):
        grown = []
        for reach, prefix in level:
            row = q.array(prefix)
            grown += [(float(reach * row[x]), (*prefix, int(x))) for x in np.argsort(-row)[: max(n, WIDTH)]]
        found += grown
        level = sorted(grown, reverse=True)[:WIDTH]
    found.sort(key=lambda each: (-each[0], len(each[1])))
    return Draft(of_prefixes(q, {prefix for _, prefix in found[:n]}))


# E[tau] given the draft.


def along(root: Node, rate: Callable[[Node, float, Callable[[Node, float], None]], float]) -> float:
    """Of a rule from leaf to root: nodes stop one after another, each at its rate."""
    total, going = 0.0, 1.0

    def visit(node: Node, a: float) -> None:
        nonlocal total, going
        a = rate(node, a, visit) if node.children else a
        total += len(node.prefix) * going * a
        going *= 1 - a

    visit(root, 1.0)
    return total


def nss(p: Model, q: Model, draft: Draft) -> float:
    """The optimum of a deterministic tree: the target's probability of each drafted prefix."""

    def below(node: Node) -> float:
        return sum(p.array(node.prefix)[child.token] * (1 + below(child)) for child in node.children)

    return below(draft.root)


def lifted_priority(p: Model, q: Model, draft: Draft) -> float:
    """The priority rule in classes, lifted."""

    def rate(node: Node, a: float, visit: Callable[[Node, float], None]) -> float:
        laws = [np.array(law) for law in draft.laws(node)]
        w, S = shares(a * p.array(node.prefix), laws, [child.token for child in node.children])
        left = 1.0
        for child, mass in zip(node.children, w, strict=True):
            visit(child, min(1.0, mass / left) if left > 1e-12 else 1.0)
            left -= mass
        return S / (S + 1 - a) if S + 1 - a > 0 else 1.0

    return along(draft.root, rate)


def traversal(p: Model, q: Model, draft: Draft) -> float:
    """Traversal Verification, siblings without replacement."""

    def rate(node: Node, a: float, visit: Callable[[Node, float], None]) -> float:
        t, r = p.array(node.prefix), q.array(node.prefix).copy()
        for child in node.children:
            visit(child, min(1.0, a * t[child.token] / r[child.token]))
            residual = np.maximum(a * t - r, 0)
            S = residual.sum()
            t, a = (residual / S if S > 0 else t), (S / (S + 1 - a) if S + 1 - a > 0 else 1.0)
            r[child.token] = 0
            r /= max(r.sum(), 1e-300)
        return a

    return along(draft.root, rate)


def shares(t: np.ndarray, laws: list[np.ndarray], tokens: list[int]) -> tuple[list[float], float]:
    """How likely each drawn sibling is the one kept, and the mass left of t (`Plan.shares`, in classes)."""
    pi = np.sum(laws, axis=0)
    kind = np.full(len(t), -1)
    kind[pi > 0] = designs.classes(t[pi > 0], pi[pi > 0])
    left, unkept, rates = t.copy(), np.ones(len(laws)), []
    for j, at in pieces(kind, laws):
        reach = float(np.prod(unkept[:j]) * np.prod(unkept[j + 1 :]))
        most = laws[j][at] * reach
        take = np.minimum(left[at], most)
        left[at] -= take
        if (here := np.flatnonzero(at == tokens[j])).size:
            rates.append((j, float(take[here[0]] / most[here[0]]) if reach > 0 else 0.0))
        unkept[j] = max(unkept[j] - float(take.sum()) / reach, 0.0) if reach > 0 else unkept[j]
    w, rest = [0.0] * len(laws), 1.0
    for j, each in rates:
        w[j], rest = rest * each, rest * (1 - each)
    return w, float(left.sum())


def pieces(kind: np.ndarray, laws: list[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Class by class, sibling by sibling: the tokens that are judged together."""
    found = []
    for j, law in enumerate(laws):
        at = np.flatnonzero(law > 0)
        at = at[np.argsort(kind[at], kind="stable")]
        cuts = np.flatnonzero(np.diff(kind[at])) + 1
        found += [(int(kind[each[0]]), j, each) for each in np.split(at, cuts)]
    return ((j, at) for _, j, at in sorted(found, key=lambda each: each[:2]))


Grow = Callable[[Model, int, Chance], Draft]


def of_shape(kind: Callable[[Shape], object], shape: Callable[[int], Shape]) -> Grow:
    return lambda q, n, oracle: kind(shape(n)).draw(oracle, q)  # type: ignore[attr-defined]


def iid(shape: Shape) -> Tree:
    return Tree(shape, True)


DESIGNS: dict[tuple[str, str, str], tuple[Grow, Callable[[Model, Model, Draft], float]]] = {
    ("best-first", "strata", "lifted-priority"): (
        lambda q, n, oracle: BestFirst(n, n).draw(oracle, q),  # type: ignore[arg-type]
        lifted_priority,
    ),
    ("DDTree", "top-k", "nss"): (lambda q, n, oracle: ddtree(q, n), nss),
    ("EAGLE-2", "top-k", "nss"): (lambda q, n, oracle: eagle2(q, n), nss),
    ("chain", "one", "block"): (of_shape(Stratified, chain), lifted_priority),
    ("binary", "strata", "lifted-priority"): (of_shape(Stratified, binary), lifted_priority),
    ("binary", "i.i.d.", "lifted-priority"): (of_shape(iid, binary), lifted_priority),
    ("binary", "without replacement", "traversal"): (of_shape(Tree, binary), traversal),
    ("uneven", "strata", "lifted-priority"): (of_shape(Stratified, uneven), lifted_priority),
    ("uneven", "i.i.d.", "lifted-priority"): (of_shape(iid, uneven), lifted_priority),
    ("uneven", "without replacement", "traversal"): (of_shape(Tree, uneven), traversal),
}


def contexts(target, count: int, sampling: Sampling) -> Iterator[tuple[int, list[int]]]:
    """(prompt's number, text) of each place."""
    for number, prompt in enumerate(prompts(None, target, count)):
        text = list(prompt)
        for step in generate(
            target,
            None,
            [prompt],
            verifier=named("token"),
            structure=None,
            sampling=sampling,
            max_new_tokens=TOKENS,
            seed=number,
        ):
            text += step.emitted[0]
        for at in range(len(prompt) + EVERY, len(text) + 1, EVERY):
            yield number, text[:at]


def measured(target, drafter, options, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """E[tau] [contexts, nodes, designs], and the prompt of each context."""
    sampling, found, cluster = Sampling(temperature), [], []
    for number, text in contexts(target, options.prompts, sampling):
        p, q = (Model(model, text, sampling) for model in (target, drafter))
        values = []
        for n in options.nodes:
            row = []
            for grow, value in DESIGNS.values():
                draft = grow(q, n, Chance(len(found)))
                assert sum(1 for _ in draft.root) == n + 1
                row.append(value(p, q, draft))
            values.append(row)
        found.append(values)
        cluster.append(number)
    return np.array(found), np.array(cluster)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--nodes", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.25, 0.6, 1.0])
    options = parser.parse_args()
    torch.set_num_threads(1)
    target, drafter = pair("shipped", None, "cpu", None)
    assert isinstance(drafter, ModelDrafter)
    tables = []
    for temperature in options.temperatures:
        start = time.process_time()
        values, cluster = measured(target, drafter.model, options, temperature)
        means, halves = values.mean(axis=0), half_width(values, cluster)
        off = half_width(values - values[:, :, :1], cluster)
        assert halves is not None, "one prompt has no interval"
        assert off is not None
        rows = []
        for d, names in enumerate(DESIGNS):
            cells: list[object] = []
            for n in range(len(options.nodes)):
                less = means[n, d] - means[n, 0]
                cells += [
                    f"{means[n, d]:.2f} ± {halves[n, d]:.2f}",
                    f"{less:+.2f} ± {off[n, d]:.2f}" if d else None,
                ]
            rows.append([*names, *cells])
        heads = [head for n in options.nodes for head in (f"N = {n}", "difference")]
        seconds = f"{len(values)} contexts of {options.prompts} prompts, {time.process_time() - start:.0f} s"
        tables.append(
            {
                "caption": f"T = {temperature}: E[tau] of trees of N tokens, {seconds}",
                "columns": ["tree", "siblings", "verifier", *heads],
                "rows": rows,
            }
        )
    print(json.dumps({"tables": tables}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
