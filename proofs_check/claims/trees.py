"""How verifiers compare on trees and paths: Traversal Verification (weng2025traversal), one more path."""

from collections.abc import Iterator
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
from draftproof.proofs_check.claims.claim import REFUTED, Claim, unrefuted
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


def _sibling_order(key: str, name: str, verifier: str) -> Claim:
    def holds(instance: Instance) -> bool:
        return mean_on(instance, verifier, Tree(LEFT)) == mean_on(instance, verifier, Tree(RIGHT))

    return Claim(
        f"sibling-order-{key}",
        f"E[tau] of {name} is the same whichever of two siblings carries the larger subtree.",
        "open",
        "a root with two children, one of them with two more, V = 3, without replacement",
        searched(holds, [Tree(LEFT)], [3], 100),
        REFUTED,
    )


def _second_path(verifier: str, verdict: str, source: str, seconds: float, note: str = "") -> Claim:
    def holds(instance: Instance) -> bool:
        return mean_on(instance, verifier, Paths(2, 2)) >= mean_on(instance, verifier, Paths(1, 2))

    return Claim(
        f"second-path-{verifier}",
        f"A second path never lowers E[tau] of {verifier}.",
        source,
        "paths of 2, V = 2 and 3",
        searched(holds, [Paths(2, 2)], (2, 3), 60),
        verdict,
        seconds,
        note,
    )


ABOVE = "Traversal Verification never accepts less than recursive rejection on the same tree"

CLAIMS = (
    Claim(
        "traversal-above-recursive-without",
        f"{ABOVE} of depth at most 2 drawn without replacement.",
        "open; measured in weng2025traversal",
        "five shapes of depth 1 and 2, V = 2 and 3",
        searched(_never_below, [Tree(shape) for shape in SHAPES], (2, 3), 100),
        unrefuted(1180),
        seconds=10,
    ),
    Claim(
        "traversal-above-recursive-small",
        f"{ABOVE} of depth at most 2, by sign cells.",
        "open; measured in weng2025traversal",
        "V = 2: a pair, two levels of pairs, a fork, two paths, both lopsided trees; V = 3: a pair; both "
        "ways of drawing",
        Together(*_small()),
        seconds=3,
        note="equal on pairs; without replacement at V = 2 above it only on two paths",
    ),
    Claim(
        "traversal-above-recursive-deep",
        f"{ABOVE} drawn without replacement.",
        "open; measured in weng2025traversal",
        "a token with two children of which the second has one more, V = 2, without replacement",
        refuted_on(late_child(False), _never_below),
        REFUTED,
        note="E[tau] 1 of traversal, 5/4 of recursive rejection, with four drafted tokens: p(0) = 1/2 and "
        "q(0) = 1 at the root, p = (1, 0) below it, q = (1/2, 1/2) once. Traversal spends its rate 1/2 on "
        "the first child, a leaf",
    ),
    Claim(
        "traversal-above-recursive-deep-iid",
        f"{ABOVE} drawn with replacement.",
        "open; measured in weng2025traversal",
        "a token with two children of which the second has one more, V = 2, with replacement",
        refuted_on(late_child(True), _never_below),
        REFUTED,
        note="E[tau] 1 of traversal, 17/16 of recursive rejection: the rows of the case without replacement, "
        "but q = (3/4, 1/4) for the two children. To depth 2 the statement holds (docs/claims.md)",
    ),
    Claim(
        "nss-optimal",
        "On deterministic drafts naive sampling accepts the most that any lossless verifier can.",
        "our derivation; docs/optimality.md",
        "top-k, one and two levels of pairs, DDTree's trees of 4, V = 2 and 3",
        searched(_all_of_the_tree, [TopK(every(2, 1)), TopK(every(2, 2)), DDTree(4, 2)], (2, 3), 20),
        unrefuted(228),
        seconds=3,
    ),
    Claim(
        "ddtree-optimal",
        "No tree of as many tokens has more mass of a product law than DDTree's.",
        "ringel2026ddtree, optimality of the tree",
        "trees of 4 tokens of depth 2, V = 2 and 3",
        searched(_best_tree, [DDTree(4, 2)], (2, 3), 20),
        unrefuted(76),
    ),
    _sibling_order("traversal", "Traversal Verification", "traversal"),
    _sibling_order("recursive", "recursive rejection", "rrs"),
    _second_path(
        "multipath-block",
        REFUTED,
        "open; thomas2026multipath",
        1,
        "p = q = (1/3, 2/3): one path is kept whole, the better of two has another law than p. Ties are not "
        "needed: with p = (1/3, 2/3) and q = (2/5, 3/5) everywhere one path gives 137/75, two 1016/625",
    ),
    _second_path("hsd-multidraft", unrefuted(156), "open; zhou2026hsd, Algorithm 3 with ratios restarted", 5),
    _second_path("traversal", unrefuted(156), "open; weng2025traversal", 5),
    _second_path("rrs", unrefuted(156), "open; jeon2024recursive", 5),
)
