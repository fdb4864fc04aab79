"""E[tau] of a drafted tree over a large vocabulary: the mean over a verifier's coins, given the draft.

Verifiers' rates are closed recursions along the tree, in float64. `p[prefix]` and `q[prefix]` are numpy rows
at the nodes that have children. A rule gives the probability that each drawn child of a node is the one that
is kept. The tree is then walked node by node, or from leaf to root.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import torch

from draftproof.gpu.verify import cells
from draftproof.gpu.verify import optimal as plans
from draftproof.theory.draft import Node
from draftproof.theory.rows import without
from draftproof.theory.shared.strata import strata
from draftproof.theory.verifiers.shared.optimal import ranked
from studies.tree_designs.drafts import RowsAt

Rule: TypeAlias = Callable[[np.ndarray, np.ndarray, list[int]], list[float]]
"""(p, q, tokens of the children) -> the probability with which each is the one kept."""

CLASSES, OCTAVE = 64, 4
"""The priority rule's classes: so many in all, so many to a factor of 2 of p / pi."""

Lift: TypeAlias = Callable[[np.ndarray, np.ndarray, list[int]], tuple[list[float], np.ndarray]]
"""(a p, q, tokens of some siblings) -> (the same, what they leave of the row a p)."""


def node_by_node(p: RowsAt, q: RowsAt, root: Node, rule: Rule) -> float:
    """From the root down: the walk goes on at the child that is kept, and ends where none is."""

    def below(v: Node) -> float:
        if not v.children:
            return 0.0
        kept = rule(p[v.prefix], q[v.prefix], [child.token for child in v.children])
        return sum(w * (1 + below(child)) for w, child in zip(kept, v.children, strict=True))

    return below(root)


def together(v: Node) -> Iterable[int]:
    """All children of a node."""
    return [len(v.children)]


def in_turn(v: Node) -> Iterable[int]:
    """One child after the other, as Traversal Verification judges them (weng2025traversal)."""
    return [1] * len(v.children)


def lifted(
    p: RowsAt,
    q: RowsAt,
    root: Node,
    rule: Lift,
    counts: Callable[[Node], Iterable[int]] = together,
    distinct: bool = False,
    where_ranked: Lift | None = None,
) -> float:
    """From leaf to root, as `draftproof.theory.verifiers.lifted_priority.lift`: nodes stop one after another,
    each at its rate. `counts`: how many siblings are judged together; `distinct`: they were drawn without the
    tokens of those before them; `where_ranked`: the rule where earlier siblings have more below them.
    """
    total, going = 0.0, 1.0

    def visit(v: Node, a: float) -> None:
        nonlocal total, going
        a = after_children(v, a) if v.children else a
        total += len(v.prefix) * going * a
        going *= 1 - a

    def after_children(v: Node, a: float) -> float:
        t, r, at = p[v.prefix], q[v.prefix], 0
        judge = where_ranked if where_ranked and ranked(v.shape) else rule
        for count in counts(v):
            siblings = v.children[at : at + count]
            if not siblings:  # q ran out of tokens
                break
            tokens, unkept = [child.token for child in siblings], 1.0
            kept, left = judge(a * t, r, tokens)
            for child, w in zip(siblings, kept, strict=True):
                visit(child, min(1.0, w / unkept) if unkept > 1e-12 else 1.0)
                unkept -= w
            S = float(left.sum())
            t, a = (left / S if S > 0 else t), (S / (S + 1 - a) if S + 1 - a > 0 else 1.0)
            r, at = (np.asarray(without(r, *tokens)) if distinct else r), at + count
        return a

    visit(root, 1.0)
    return total


def target_only(p: np.ndarray, q: np.ndarray, tokens: list[int]) -> list[float]:
    """`nss`: Y ~ p, and a child that is Y is kept; children are distinct."""
    return [float(p[x]) for x in tokens]


def recursive(replacement: bool) -> Rule:
    """`specinfer`, or without replacement `rrs`."""

    def rule(p: np.ndarray, q: np.ndarray, tokens: list[int]) -> list[float]:
        kept, rest = [], 1.0
        for x in tokens:
            kept.append(rest * min(1.0, float(p[x] / q[x])))
            rest -= kept[-1]
            excess = np.maximum(p - q, 0)
            p = excess / S if (S := excess.sum()) > 0 else p
            q = q if replacement else np.asarray(without(q, x))
        return kept

    return rule


def greedy(p: np.ndarray, q: np.ndarray, tokens: list[int]) -> list[float]:
    """`hu-greedy`: the first child is the sample, the others are the likeliest tokens."""
    x, *T = tokens
    rest = q.copy()
    rest[T] = 0
    rest /= rest.sum()
    first, refused = min(1.0, float(p[x] / rest[x])), float(np.maximum(p - rest, 0).sum())
    return [first, *((1 - first) * float(p[y]) / refused if refused > 0 else 0.0 for y in T)]


def single(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], np.ndarray]:
    """One sibling, drawn from q."""
    (x,) = tokens
    return [min(1.0, float(t[x] / q[x]))], np.maximum(t - q, 0)


def iid_priority(
    t: np.ndarray, q: np.ndarray, tokens: list[int], delay: int = 0
) -> tuple[list[float], np.ndarray]:
    """The priority rule in classes, siblings drawn from q; `delay` is as in `judged`."""
    return _priority(t, np.broadcast_to(q, (len(tokens), len(q))), tokens, delay)


def strata_priority(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], np.ndarray]:
    """The priority rule in classes, sibling j drawn from stratum j."""
    if len(tokens) == 1:  # one sibling's classes are judged alike
        return single(t, q, tokens)
    return _priority(t, np.array(strata(q, len(tokens))), tokens)


def _priority(
    t: np.ndarray, laws: np.ndarray, tokens: list[int], delay: int = 0
) -> tuple[list[float], np.ndarray]:
    left, kept, rest = t.copy(), [0.0] * len(laws), 1.0
    for j, at, take, most in judged(left, laws, delay):
        if (here := np.flatnonzero(at == tokens[j])).size and most[here[0]] > 0:
            rate = float(take[here[0]] / most[here[0]])
            kept[j], rest = rest * rate, rest * (1 - rate)
    return kept, left


def optimal(
    t: np.ndarray, q: np.ndarray, tokens: list[int], stratified: bool = False, in_turn: bool = False
) -> tuple[list[float], np.ndarray]:
    """The optimum in classes as the batched form has it; siblings drawn from q, or each from its stratum;
    `in_turn`: by the priority rule in its classes.
    """
    a = float(t.sum())
    p, K = torch.from_numpy(t / a if a > 0 else t)[None], len(tokens)
    own, places, groups = torch.from_numpy(q)[None], None, 1
    if stratified:
        laws = np.array(strata(q, K))
        first = laws.argmax(0) if (laws > 0).sum(0).max() < 2 else (laws > 0).argmax(0)
        second = np.minimum(first + 1, K - 1)
        pi = laws.sum(0)
        shared = laws[second, np.arange(len(q))] / np.where(pi > 0, pi, 1) * (second > first)
        own, places, groups = torch.from_numpy(pi)[None], torch.from_numpy(first + shared)[None], K
    x = torch.tensor([[tokens]])
    pair = [row.gather(1, x[0]).view(1, 1, K) for row in (p, own)]
    sums = [each[None] for each in cells.sums(p, own, places, groups)]
    there = torch.ones(1, 1, K, dtype=torch.bool)
    nodes = plans.Nodes.made(x, there, x, pair, sums)
    w, cut, _ = plans.plan(nodes, torch.tensor([[a]], dtype=torch.float64), [in_turn])
    return w[0, 0].tolist(), a * cells.left(p, own, places, cut[0])[0].numpy()


def classes(t: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """The class of each token by t / pi, the largest ratios in class 0; rounding moves no ratio of 1."""
    with np.errstate(divide="ignore"):
        octaves = np.log2(t) - np.log2(pi)
    return np.clip(CLASSES // 2 - np.floor(OCTAVE * octaves + 1e-9), 0, CLASSES - 1).astype(int)


def judged(
    left: np.ndarray, laws: Sequence[Any] | np.ndarray, delay: int = 0
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """The priority rule in classes, sibling j drawn from laws[j]: (j, the tokens that are judged together,
    the mass that is kept of each, the most that could be), in the order of judging. What is kept is taken
    from `left`, which is t at first. Each sibling is judged `delay` classes after the one before it.
    """
    pi, unkept = np.sum(laws, axis=0), np.ones(len(laws))
    drafted = np.flatnonzero(pi)
    kinds = classes(left[drafted], pi[drafted])
    order = np.argsort(kinds, kind="stable")
    groups = np.split(drafted[order], np.flatnonzero(np.diff(kinds[order])) + 1)
    turns = [(kind + delay * j, j, at) for kind, at in zip(np.unique(kinds), groups, strict=True)
             for j in range(len(laws))]  # fmt: skip
    for _, j, together in sorted(turns, key=itemgetter(0, 1)):
        law, reach = laws[j], float(np.prod(unkept[:j]) * np.prod(unkept[j + 1 :]))
        at = together[law[together] > 0]
        if reach > 0 and len(at):
            most = law[at] * reach
            take = np.minimum(left[at], most)
            left[at] -= take
            yield j, at, take, most
            unkept[j] = max(unkept[j] - float(take.sum()) / reach, 0.0)
