"""How verifiers compare on trees and paths: Traversal Verification (weng2025traversal), one more path."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from flint import fmpq

from draftproof.proofs_check.claims.checks import (
    Related,
    Together,
    by_depth,
    mean_on,
    means,
    refuted_on,
    searched,
)
from draftproof.simulators.laws.enumerate import Enumerator
from draftproof.simulators.laws.optimum import full_information
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts.ddtree import DDTree
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Table

LEFT, RIGHT = (((), ()), ()), ((), ((), ()))
SHAPES = (every(2, 1), every(2, 2), LEFT, RIGHT, (every(1, 1),) * 2)
LATE = (((), ((),)),)
"""A token with two children, of which the second has one more: four drafted tokens."""


def late_child(replacement: bool) -> Instance:
    """An instance on which traversal accepts less than recursive rejection: it enters the first token's
    children with rate 1/2, all of which goes to the first child, a leaf. Recursive rejection keeps the
    first token before it tries a child.
    """
    half, zero, one = ["1/2", "1/2"], ["1", "0"], ["0", "1"]
    siblings = ["3/4", "1/4"] if replacement else half
    proposal = Table.exact(2, {(): zero, (0,): siblings, (0, 0): zero, (0, 1): one})
    target = Table.exact(2, {(): half, (0,): zero, (0, 0): zero, (0, 1): zero})
    return Instance(target, proposal, Tree(LATE, replacement))


def _never_below(instance: Instance) -> bool:
    recursive = "specinfer" if instance.draft.label == "tree with replacement" else "rrs"
    return mean_on(instance, "traversal") >= mean_on(instance, recursive)


def _small() -> Iterator[Related]:
    cases = [(2, shape) for shape in (*SHAPES, (every(2, 1),))] + [(3, every(2, 1))]
    for vocab, shape in cases:
        for rule, replacement in (("rrs", False), ("specinfer", True)):
            yield Related("never below", means("traversal"), means(rule), (vocab, Tree(shape, replacement)))


def _all_of_the_tree(instance: Instance) -> bool:
    return mean_on(instance, "nss") == full_information(instance).value


def _best_tree(instance: Instance) -> bool:
    # Whether no tree of as many tokens has more of q, one row for each depth.
    q, drafted = by_depth(instance).proposal, instance.draft
    reach: dict[Prefix, fmpq] = {(): ONE}
    for prefix in [x for x in prefixes(q.vocab, drafted.depth) if x]:
        reach[prefix] = reach[prefix[:-1]] * q[prefix[:-1]][prefix[-1]]
    nodes = [node.prefix for node in drafted.draw(Enumerator(ONE), q).root]
    trees = (each for each in combinations(reach, len(nodes)) if all(x[:-1] in each for x in each))
    return sum(map(reach.__getitem__, nodes)) == max(sum(map(reach.__getitem__, each)) for each in trees)


def _same_order(instance: Instance, verifier: str) -> bool:
    return mean_on(instance, verifier, Tree(LEFT)) == mean_on(instance, verifier, Tree(RIGHT))


def _second_path(instance: Instance, verifier: str) -> bool:
    return mean_on(instance, verifier, Paths(2, 2)) >= mean_on(instance, verifier, Paths(1, 2))


CHECKS = {
    "traversal-above-recursive-without": searched(
        _never_below, [Tree(shape) for shape in SHAPES], (2, 3), 100
    ),
    "traversal-above-recursive-small": Together(*_small()),
    "traversal-above-recursive-deep": refuted_on(late_child(False), _never_below),
    "traversal-above-recursive-deep-iid": refuted_on(late_child(True), _never_below),
    "nss-optimal": searched(
        _all_of_the_tree, [TopK(every(2, 1)), TopK(every(2, 2)), DDTree(4, 2)], (2, 3), 20
    ),
    "ddtree-optimal": searched(_best_tree, [DDTree(4, 2)], (2, 3), 20),
    **{
        f"sibling-order-{key}": searched(partial(_same_order, verifier=rule), [Tree(LEFT)], [3], 100)
        for key, rule in (("traversal", "traversal"), ("recursive", "rrs"))
    },
    **{
        f"second-path-{rule}": searched(partial(_second_path, verifier=rule), [Paths(2, 2)], (2, 3), 60)
        for rule in ("multipath-block", "hsd-multidraft", "traversal", "rrs")
    },
}
