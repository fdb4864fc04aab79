"""Closed forms of E[tau] for rules that verify from leaf to root.

A subtree that is entered with rate a ends the walk with probability a, whatever is drawn in it. So every node
adds its entry rate to E[tau]: the sum runs over draws and needs no outcomes of coins.
"""

from collections.abc import Callable, Iterator
from itertools import product
from math import prod

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Number, Prefix, possible, scale, share, total
from draftproof.theory.transport.level import carriers, plan
from draftproof.theory.transport.siblings import law_below
from draftproof.theory.verifiers.layered import Frontier, descend, together
from draftproof.theory.verifiers.lifted_k_seq import carried
from draftproof.theory.verifiers.lifted_priority import Planned
from draftproof.theory.verifiers.shared import optimal, priority


def lifted(instance: Instance) -> Number:
    """The mass that each node's plan gives its children, plus that of the plans in their subtrees."""
    target, proposal, draft = instance.target, instance.proposal, _undrawn(instance)

    def mean(node: Node, a: Number) -> Number:
        row, law = scale(a, target[node.prefix]), law_below(draft, node)
        planned = plan([row], [law], ONE)
        out = planned.accepted
        for (drawn,), given in planned.rate.items():
            rest = ONE
            for (_, x), w in given.items():
                copies = carriers(drawn, x)
                for shape in copies if possible(w) else ():
                    part = w / len(copies)
                    if shape:
                        child = Node((*node.prefix, x), proposal[*node.prefix, x], (), shape)
                        out += planned.probability[drawn,] * rest * mean(child, share(part, rest))
                    rest -= part
        return out

    return mean(draft.root, ONE)


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


def lift(rule: Planned) -> Callable[[Instance], Number]:
    """The probability with which each drawn child is kept, and what its subtree adds."""

    def form(instance: Instance) -> Number:
        target, proposal, label = instance.target, instance.proposal, instance.draft.label

        def mean(prefix: Prefix, shape: Shape, a: Number) -> Number:
            q, t = proposal[prefix], scale(a, target[prefix])
            draft = Draft(
                Node(prefix, q, (), shape), stratified=label == "stratified", greedy=label == "greedy"
            )
            laws = draft.laws(draft.root)
            plan = rule(draft, draft.root, t)
            out = total(t) - total(plan.left)
            for tokens in product(range(len(q)), repeat=len(laws)) if any(shape) else ():
                if not possible(chance := prod((R[x] for R, x in zip(laws, tokens, strict=True)), start=ONE)):
                    continue
                left = ONE
                drawn = zip(tokens, shape, strict=False)
                node = Node(prefix, q, tuple([Node((*prefix, x), None, (), below) for x, below in drawn]))
                for child, w in zip(node.children, plan.shares(node), strict=True):
                    if child.shape and possible(w):
                        out += chance * left * mean(child.prefix, child.shape, share(w, left))
                    left -= w
            return out

        return mean((), shape_of(instance.draft), ONE)

    return form


def layered(instance: Instance) -> Number:
    """The mean, over the draws of the levels above, of the mass 1 - L that each level is given."""
    target, proposal, draft = instance.target, instance.proposal, _undrawn(instance)

    def drawn(node: Node) -> Iterator[tuple[Number, Node]]:
        for siblings, chance in law_below(draft, node).items():
            children = []
            for x, shape in siblings:
                prefix = (*node.prefix, x)
                children.append(Node(prefix, proposal[prefix] if shape else None, (), shape))
            yield chance, Node(node.prefix, node.proposal, tuple(children), node.shape)

    def mean(frontier: Frontier) -> Number:
        L, out = ONE, ZERO
        last = not any(any(node.shape) for node, _ in frontier)
        for joint in product(*(drawn(node) for node, _ in frontier)):
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
    shape, replacement = shape_of(instance.draft), instance.draft.label == "tree with replacement"
    if replacement and not alike(shape):  # the drawing order determines the shape below each copy of a token
        raise BadInput("no closed form of E[tau] if subtrees of i.i.d. siblings differ in shape")
    root = Node((), instance.proposal[()], (), shape)
    return Draft(root, replacement=replacement, paths=() if isinstance(instance.draft, Paths) else None)


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


lifted_priority, lifted_optimal = lift(priority.planned), lift(optimal.planned)
