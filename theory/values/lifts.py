"""Closed forms of E[tau] for rules that verify from leaf to root.

A subtree that is entered with rate a ends the walk with probability a, whatever is drawn in it. So every node
adds its entry rate to E[tau]: the sum runs over draws and needs no outcomes of coins.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from typing import TypeAlias

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Number, Prefix, possible, scale, share, total
from draftproof.theory.table import Table
from draftproof.theory.transport.level import plan
from draftproof.theory.transport.siblings import law_below
from draftproof.theory.verifiers.layered import Frontier, descend, together
from draftproof.theory.verifiers.lifted import planned as transported
from draftproof.theory.verifiers.lifted_k_seq import carried
from draftproof.theory.verifiers.lifted_priority import Planned
from draftproof.theory.verifiers.shared import optimal, priority


def lifted_k_seq(instance: Instance) -> Number:
    """The rate of each i.i.d. child and of its subtree, times the probability that the child is tried."""
    target, proposal = instance.target, instance.proposal

    def mean(prefix: Prefix, shape: Shape, a: Number) -> Number:
        out, tried, q = ZERO, ONE, proposal[prefix]
        entries, _ = carried(scale(a, target[prefix]), q, len(shape))
        for (mass, most), below in zip(entries, shape, strict=True):
            ended = ZERO
            for x, chance in enumerate(q):
                rate = share(mass[x], most[x])
                if possible(chance * rate):
                    ended += chance * rate
                    if below:
                        out += tried * chance * mean((*prefix, x), below, rate)
            out += tried * ended
            tried *= 1 - ended
        return out

    return mean((), shape_of(instance.draft), ONE)


def lift(rule: Planned, draws: "Draws") -> Callable[[Instance], Number]:
    """The probability with which each drawn child is kept, and what its subtree adds."""

    def form(instance: Instance) -> Number:
        target, proposal, draft = instance.target, instance.proposal, _undrawn(instance)

        def mean(v: Node, a: Number) -> Number:
            t = scale(a, target[v.prefix])
            plan = rule(draft, v, t)
            out = total(t) - total(plan.left)
            for chance, node in draws(draft, v, proposal) if any(v.shape) else ():
                left = ONE
                for child, w in plan.shares(node):
                    if child.shape and possible(w):
                        out += chance * left * mean(child, share(w, left))
                    left -= w
            return out

        return mean(draft.root, ONE)

    return form


Draws: TypeAlias = Callable[[Draft, Node, Table], Iterator[tuple[Number, Node]]]
"""(draft, node, proposal) -> the node with each of the children that it can draw, and how likely they are."""


def in_turn(draft: Draft, node: Node, proposal: Table) -> Iterator[tuple[Number, Node]]:
    """Siblings that are drawn independently, in drawing order."""
    laws = draft.laws(node)
    for tokens in product(range(proposal.vocab), repeat=len(laws)):
        if possible(chance := prod((R[x] for R, x in zip(laws, tokens, strict=True)), start=ONE)):
            yield chance, _with(node, zip(tokens, node.shape, strict=False), proposal)


def in_any_order(draft: Draft, node: Node, proposal: Table) -> Iterator[tuple[Number, Node]]:
    """Siblings of any draft, whose order does not matter; BadInput where it does: it determines the shape
    below each copy of a token.
    """
    if draft.replacement and not alike(node.shape):
        raise BadInput("no closed form of E[tau] if subtrees of i.i.d. siblings differ in shape")
    for siblings, chance in law_below(draft, node).items():
        yield chance, _with(node, siblings, proposal)


def _with(node: Node, siblings: Iterable[tuple[int, Shape]], proposal: Table) -> Node:
    children = []
    for x, shape in siblings:
        prefix = (*node.prefix, x)
        children.append(Node(prefix, proposal[prefix] if shape else None, (), shape))
    return Node(node.prefix, node.proposal, tuple(children), node.shape)


def layered(instance: Instance) -> Number:
    """The mean, over the draws of the levels above, of the mass 1 - L that each level is given."""
    target, proposal, draft = instance.target, instance.proposal, _undrawn(instance)

    def mean(frontier: Frontier) -> Number:
        L, out = ONE, ZERO
        last = not any(any(node.shape) for node, _ in frontier)
        for joint in product(*(in_any_order(draft, node, proposal) for node, _ in frontier)):
            nodes = [(node, e) for (_, node), (_, e) in zip(joint, frontier, strict=True)]
            if last:
                for group, laws in together(draft, nodes):
                    L -= plan([e for _, e in group], laws, L).accepted
                break
            L, _, below = descend(draft, nodes, target)
            if inner := [(child, e) for child, e in below if child.shape]:
                out += prod((chance for chance, _ in joint), start=ONE) * mean(inner)
        return 1 - L + out

    return mean([(draft.root, target[()])])


def _undrawn(instance: Instance) -> Draft:
    label = instance.draft.label
    return Draft(
        Node((), instance.proposal[()], (), shape_of(instance.draft)),
        replacement=label == "tree with replacement",
        stratified=label == "stratified",
        greedy=label == "greedy",
        paths=() if label == "paths" else None,
    )


def shape_of(draft: Scheme) -> Shape:
    """The shape of a draft below its root."""
    if isinstance(draft, Paths):
        return (chain(draft.depth - 1),) * draft.count
    if isinstance(draft, BestFirst):
        raise BadInput("no closed form for trees whose shape is drawn")
    return draft.shape  # type: ignore[attr-defined]


def alike(shape: Shape) -> bool:
    """Whether the subtrees of every node have equal shapes."""
    return all(below == shape[0] for below in shape) and (not shape or alike(shape[0]))


lifted = lift(transported, in_any_order)
lifted_priority, lifted_optimal = lift(priority.planned, in_turn), lift(optimal.planned, in_turn)
