"""Systematic mutants: one edit away from the verifiers in theory/verifiers.

Each edit replaces one piece of the verifier's own source, which must occur in it: a comparison
turned, a row shifted by one, a normalisation dropped, an update skipped.
"""

import ast
import hashlib
import inspect
import linecache
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from draftproof.simulators.instances.suite import GROUPS
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import (
    block,
    layered,
    lifted_priority,
    optimal,
    priority,
    rrs,
    token,
    traversal,
    typical,
)
from tests.mutants.registry import rule

CHAINS = (Chain(1), Chain(2))
PLAIN = (Tree(((), ())), Tree((((), ()),)), Tree((((),), ())))
DOUBLE = tuple(Tree(tree.shape, True) for tree in PLAIN)
TURNS = (Tree(GROUPS),)
STRATA = tuple(Stratified(tree.shape) for tree in PLAIN)
FLAT = (TopK(((), ())), TopK((((),), ())))


def edited(module: ModuleType, *edits: tuple[str, str]) -> Verifier:
    """The module's verifier after replacing each old text by the new one.

    Raises AssertionError where the old text is not in the source any more.
    """
    source = inspect.getsource(module)
    for old, new in edits:
        assert old in source, f"{module.__name__} has no {old!r}"
        source = source.replace(old, new)
    return executed(module, source)


def executed(
    module: ModuleType,
    source: str,
    transformed: Callable[[ast.Module], ast.Module] | None = None,
    **names: Any,
) -> Verifier:
    """The verifier of the module's edited source, declared lossy.

    `inspect.getsource` finds the edited source of its functions. What runs may be a transformed tree of it,
    which knows the additional names.
    """
    filename = f"<{module.__name__} edited, {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    tree = ast.parse(source)
    namespace: dict[str, Any] = {"__name__": f"{module.__name__} (edited)", **names}
    exec(compile(transformed(tree) if transformed else tree, filename, "exec"), namespace)
    return replace(namespace["VERIFIER"], lossless=False)


def text(verifier: Verifier) -> str:
    """The source of the module that the verifier was executed from."""
    return "".join(linecache.getlines(verifier.verify.__code__.co_filename))


def _all(module: ModuleType, drafts: tuple[Scheme, ...], *mutants: tuple[str, ...]) -> None:
    for flaw, old, new, *row in mutants:
        name = f"{module.VERIFIER.name}: {old} -> {new}"
        rule(name, flaw, edited(module, (old, new)), drafts, row=row[0] if row else "")


_all(
    token,
    CHAINS,
    ("ratio turned", "share(p[x], q[x])", "share(q[x], p[x])"),
    ("acceptance turned", "not oracle.accept", "oracle.accept"),
    ("residual turned", "excess(p, q)", "excess(q, p)"),
    ("normalisation dropped", "return node, normalise(excess(p, q))", "return node, excess(p, q)"),
    ("residual is p itself", "return node, normalise(excess(p, q))", "return node, p", "4"),
    ("residual is q", "return node, normalise(excess(p, q))", "return node, q"),
    ("target row off by one", "target[node.prefix], node.p", "target[child.prefix], node.p", "8"),
    (
        "residual row off by one",
        "normalise(excess(p, q))",
        "normalise(excess(target[child.prefix], q))",
        "30",
    ),
    ("bonus row off by one", "target[leaf.prefix]", "target[draft.path[-2].prefix]", "30"),
    ("bonus from the proposal", "return leaf, target[leaf.prefix]", "return leaf, node.proposal"),
    (
        "minimum of ratios dropped for their half",
        "oracle.accept(share(p[x], q[x]))",
        "oracle.accept(share(p[x], q[x]) / 2)",
    ),
)
_all(
    block,
    CHAINS,
    ("weight not updated", "share(w[-1] * p[x], q[x])", "share(p[x], q[x])"),
    ("ratio turned", "share(w[-1] * p[x], q[x])", "share(w[-1] * q[x], p[x])"),
    (
        "residual not scaled by w",
        "excess(scale(w_i, target[node.prefix]), ",
        "excess(target[node.prefix], ",
        "2",
    ),
    (
        "residual turned",
        "scale(w_i, target[node.prefix]), node.proposal",
        "node.proposal, scale(w_i, target[node.prefix])",
    ),
    ("normalisation of h dropped", "share(A, A + (1 - w_i))", "share(A, A + 1)"),
    ("h is the weight", "share(A, A + (1 - w_i))", "w_i"),
    ("h turned", "share(A, A + (1 - w_i))", "share(A + (1 - w_i), A)"),
    ("h without A below", "share(A, A + (1 - w_i))", "share(A, 1 - w_i)"),
    ("walk from the root", "zip(reversed(inner), reversed(w)", "zip(inner, w"),
    ("normalisation dropped", "return node, normalise(residual)", "return node, residual"),
    ("target row off by one", "target[node.prefix], node.p", "target[child.prefix], node.p"),
    (
        "bonus row off by one",
        "return leaf, target[leaf.prefix]",
        "return leaf, target[inner[-1].prefix]",
        "30",
    ),
    ("weights off by one", "reversed(w)", "reversed([*w[1:], w[-1]])"),
)
_all(
    traversal,
    PLAIN,
    ("rate not handed down", "share(a * p[x], q[x])", "share(p[x], q[x])"),
    ("ratio turned", "share(a * p[x], q[x])", "share(q[x], a * p[x])"),
    ("residual not scaled by the rate", "excess(scale(a, p), q)", "excess(p, q)"),
    ("residual turned", "excess(scale(a, p), q)", "excess(q, scale(a, p))"),
    ("rate not updated", "p, a = normalise(residual), share(S, S + (1 - a))", "p = normalise(residual)"),
    ("row not updated", "p, a = normalise(residual), share(S, S + (1 - a))", "a = share(S, S + (1 - a))"),
    ("rate turned", "share(S, S + (1 - a))", "share(1 - a, S + (1 - a))"),
    ("rate over what the proposal has left", "share(S, S + (1 - a))", "share(S, 1 - q[x])", "23"),
    ("normalisation dropped", "normalise(residual)", "residual"),
    ("proposal not updated", "q = without(q, x)", "pass"),
    (
        "siblings by token id",
        "for child in f.children",
        "for child in sorted(f.children, key=lambda c: c.token)",
        "30",
    ),
    ("siblings turned", "for child in f.children", "for child in f.children[::-1]", "30"),
    ("target row off by one", "target[f.prefix], f.proposal", "target[f.prefix[:-1]], f.proposal"),
)
_all(
    rrs,
    PLAIN,
    ("ratio turned", "share(p[child.token], q[child.token])", "share(q[child.token], p[child.token])"),
    ("proposal not updated", ", without(q, child.token)", ", q"),
    ("row not updated", "p, q = normalise(excess(p, q)), without", "q = without"),
    ("residual turned", "excess(p, q)", "excess(q, p)"),
    ("normalisation dropped", "normalise(excess(p, q))", "excess(p, q)"),
    ("row kept on the way down", "node, p = child, target[child.prefix]", "node = child"),
    (
        "target row off by one",
        "node, p = child, target[child.prefix]",
        "node, p = child, target[node.prefix]",
    ),
    ("siblings by token id", "in node.children:", "in sorted(node.children, key=lambda c: c.token):", "30"),
    ("every other child skipped in the update", "q = node.proposal", "q = node.proposal; p = p[::-1]"),
)
_all(
    layered,
    TURNS,
    ("later groups share what is left on average", "scale(left * w, target", "scale(L * w, target"),
    ("later groups take all", "scale(left * w, target", "scale(w, target"),
    ("what a group took is not taken off", "left = left - left * sum(given.values(), L * 0)", "pass"),
    ("later groups plan with all", "laws, L, segments", "laws, L * 0 + 1, segments"),
)
_INDEPENDENT = (*DOUBLE, *STRATA)
_all(
    priority,
    _INDEPENDENT,
    ("acceptance turned", "if oracle.accept(rate)", "if not oracle.accept(rate)"),
    ("normalisation dropped", "normalise(plan.left)", "plan.left"),
    ("residual is p itself", "normalise(plan.left)", "target[node.prefix]"),
    (
        "plan of another row",
        "planned(draft, node, target[node.prefix])",
        "planned(draft, node, node.proposal)",
    ),
    (
        "strata for i.i.d. draws and the reverse",
        "planned(draft,",
        "planned(Draft(node, stratified=not draft.stratified),",
    ),
    (
        "judged in drawing order",
        "in plan.judged(node)",
        "in sorted(plan.judged(node), key=lambda pair: node.children.index(pair[0]))",
    ),
    (
        "the first judged child alone",
        "                node = child\n                break\n",
        "                node = child\n"
        "            else:\n                return node, normalise(plan.left)\n            break\n",
    ),
)
_all(
    optimal,
    (*_INDEPENDENT, *(Greedy(tree.shape) for tree in PLAIN)),
    ("kept with its share of the whole", "share(w, left)", "w"),
    ("share of what is left not updated", "left = left - w", "pass"),
    ("normalisation dropped", "normalise(plan.left)", "plan.left"),
    ("residual is p itself", "normalise(plan.left)", "p"),
    (
        "siblings turned",
        "for child, w in plan.shares(node):",
        "for child, (_, w) in zip(node.children, plan.shares(node)[::-1], strict=True):",
    ),
    ("plan of the row above", "rule(draft, node, p)", "rule(draft, node, target[draft.root.prefix])"),
    (
        "strata for i.i.d. draws and the reverse",
        "rule(draft,",
        "rule(Draft(node, stratified=not draft.stratified, greedy=draft.greedy),",
    ),
)
_all(
    lifted_priority,
    _INDEPENDENT,
    ("plan of p, not of a p", "rule(draft, v, scale(a, p))", "rule(draft, v, p)"),
    ("entered with its share of the whole", "share(w, left)", "w"),
    ("share of what is left not updated", "left = left - w", "pass"),
    (
        "rate not handed down",
        "lift(oracle, draft, child, share(w, left), target, rule)",
        "lift(oracle, draft, child, a, target, rule)",
    ),
    ("rate of the stop turned", "share(S, S + (1 - a))", "share(1 - a, S + (1 - a))"),
    ("rate of the stop without 1 - a", "share(S, S + (1 - a))", "S"),
    ("normalisation dropped", "normalise(plan.left)", "plan.left"),
    ("residual is p itself", "(v, normalise(plan.left))", "(v, p)"),
    (
        "strata for i.i.d. draws and the reverse",
        "rule(draft,",
        "rule(Draft(v, stratified=not draft.stratified),",
    ),
    (
        "siblings turned",
        "for child, w in plan.shares(v):",
        "for child, (_, w) in zip(v.children, plan.shares(v)[::-1], strict=True):",
    ),
)
rule(
    "typical acceptance", "lossy by design: a threshold in the place of a coin", typical.VERIFIER, (Chain(2),)
)
