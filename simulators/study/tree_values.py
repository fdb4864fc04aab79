"""E[tau] of a drafted tree over a large vocabulary: the mean over a verifier's coins, given the draft.

Verifiers' rates are closed recursions along the tree, in float64. `p[prefix]` and `q[prefix]` are numpy rows
at the nodes that have children. A rule gives the probability that each drawn child of a node is the one that
is kept. The tree is then walked node by node, or from leaf to root.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from draftproof.simulators.study import designs
from draftproof.simulators.study.tree_drafts import RowsAt, less
from draftproof.theory.draft import Node
from draftproof.theory.strata import stages

Rule: TypeAlias = Callable[[np.ndarray, np.ndarray, list[int]], tuple[list[float], float]]
"""(t, q, tokens of the children) -> (the probability with which each is the one kept, the mass left of t)."""


def node_by_node(p: RowsAt, q: RowsAt, root: Node, rule: Rule) -> float:
    """From the root down: the walk goes on at the child that is kept, and ends where none is."""

    def below(v: Node) -> float:
        if not v.children:
            return 0.0
        kept, _ = rule(p[v.prefix], q[v.prefix], [child.token for child in v.children])
        return sum(w * (1 + below(child)) for w, child in zip(kept, v.children, strict=True))

    return below(root)


def lifted(p: RowsAt, q: RowsAt, root: Node, rule: Rule) -> float:
    """From leaf to root, as `draftproof.theory.verifiers.lifted_priority.lift`."""

    def rate(v: Node, a: float, visit: Callable[[Node, float], None]) -> float:
        kept, S = rule(a * p[v.prefix], q[v.prefix], [child.token for child in v.children])
        _enter(v.children, kept, visit)
        return S / (S + 1 - a) if S + 1 - a > 0 else 1.0

    return _along(root, rate)


def traversal(p: RowsAt, q: RowsAt, root: Node, replacement: bool) -> float:
    """Traversal Verification (weng2025traversal)."""

    def rate(v: Node, a: float, visit: Callable[[Node, float], None]) -> float:
        t, r = p[v.prefix], q[v.prefix]
        for child in v.children:
            x = child.token
            visit(child, min(1.0, a * t[x] / r[x]))
            residual = np.maximum(a * t - r, 0)
            S = float(residual.sum())
            t, a = (residual / S if S > 0 else t), (S / (S + 1 - a) if S + 1 - a > 0 else 1.0)
            r = r if replacement else less(r, [x])
        return a

    return _along(root, rate)


def _enter(siblings: Sequence[Node], kept: list[float], visit: Callable[[Node, float], None]) -> None:
    # Each with the probability that it is kept, over what its elder siblings left.
    left = 1.0
    for child, w in zip(siblings, kept, strict=True):
        visit(child, min(1.0, w / left) if left > 1e-12 else 1.0)
        left -= w


def _along(root: Node, rate: Callable[[Node, float, Callable[[Node, float], None]], float]) -> float:
    # Nodes stop one after another, each at its rate.
    total, going = 0.0, 1.0

    def visit(v: Node, a: float) -> None:
        nonlocal total, going
        a = rate(v, a, visit) if v.children else a
        total += len(v.prefix) * going * a
        going *= 1 - a

    visit(root, 1.0)
    return total


def in_stages(p: RowsAt, q: RowsAt, root: Node) -> float:
    """The priority rule in classes stage by stage, lifted (`draftproof.theory.verifiers.lifted_stages`)."""

    def rate(v: Node, a: float, visit: Callable[[Node, float], None]) -> float:
        t, r, at = p[v.prefix], q[v.prefix], 0
        for count in stages(v.shape):
            siblings = v.children[at : at + count]
            if not siblings:
                break
            tokens = [child.token for child in siblings]
            kept, rest = _priority(a * t, designs.strata_rows(r, count), tokens)
            _enter(siblings, kept, visit)
            S = float(rest.sum())
            t, a = (rest / S if S > 0 else t), (S / (S + 1 - a) if S + 1 - a > 0 else 1.0)
            r, at = less(r, tokens), at + count
        return a

    return _along(root, rate)


def target_only(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
    """`nss`: Y ~ p, and a child that is Y is kept; children are distinct."""
    return [float(t[x]) for x in tokens], 1 - float(t[tokens].sum())


def recursive(replacement: bool) -> Rule:
    """`specinfer`, or without replacement `rrs`."""

    def rule(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
        kept, rest = [], 1.0
        for x in tokens:
            rate = min(1.0, float(t[x] / q[x]))
            kept.append(rest * rate)
            rest -= kept[-1]
            excess = np.maximum(t - q, 0)
            t = excess / S if (S := excess.sum()) > 0 else t
            q = q if replacement else less(q, [x])
        return kept, rest

    return rule


def greedy(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
    """`hu-greedy`: the first child is the sample, the others are the likeliest tokens."""
    x, *T = tokens
    rest = q.copy()
    rest[T] = 0
    rest /= rest.sum()
    first, refused = min(1.0, float(t[x] / rest[x])), float(np.maximum(t - rest, 0).sum())
    kept = [first, *((1 - first) * float(t[y]) / refused if refused > 0 else 0.0 for y in T)]
    return kept, refused - float(t[T].sum())


def iid_priority(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
    """The priority rule in classes, siblings drawn from q."""
    return _total(_priority(t, np.broadcast_to(q, (len(tokens), len(q))), tokens))


def strata_priority(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
    """The priority rule in classes, sibling j drawn from stratum j."""
    return _total(_priority(t, designs.strata_rows(q, len(tokens)), tokens))


def strata_levelled(t: np.ndarray, q: np.ndarray, tokens: list[int]) -> tuple[list[float], float]:
    """Two siblings levelled, other numbers by the priority rule; sibling j drawn from stratum j."""
    if len(tokens) != 2:
        return strata_priority(t, q, tokens)
    rule = designs.Levelled(t, designs.strata_rows(q, 2))
    return rule.shares(*tokens), float(rule.left.sum())


def _total(plan: tuple[list[float], np.ndarray]) -> tuple[list[float], float]:
    return plan[0], float(plan[1].sum())


def _priority(t: np.ndarray, laws: np.ndarray, tokens: list[int]) -> tuple[list[float], np.ndarray]:
    pi = laws.sum(axis=0)
    kind = np.full(len(t), -1)
    kind[pi > 0] = designs.classes(t[pi > 0], pi[pi > 0])
    left, kept, rest = t.copy(), [0.0] * len(laws), 1.0
    for j, at, take, most in designs.judged(left, _pieces(kind, laws), len(laws)):
        if (here := np.flatnonzero(at == tokens[j])).size and most[here[0]] > 0:
            rate = float(take[here[0]] / most[here[0]])
            kept[j], rest = rest * rate, rest * (1 - rate)
    return kept, left


def _pieces(kind: np.ndarray, laws: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    # Class by class, sibling by sibling: (sibling, the tokens that are judged together, their masses).
    found = []
    for j, law in enumerate(laws):
        at = np.flatnonzero(law > 0)
        at = at[np.argsort(kind[at], kind="stable")]
        cuts = np.flatnonzero(np.diff(kind[at])) + 1
        found += [(int(kind[each[0]]), j, each) for each in np.split(at, cuts)]
    return ((j, at, laws[j][at]) for _, j, at in sorted(found, key=lambda each: each[:2]))
