"""Traversal Verification (weng2025traversal), theorem by theorem, and how it compares on trees."""

from collections.abc import Callable, Iterator

from draftproof.proofs_check.claims.claim import (
    REFUTED,
    Claim,
    Related,
    Together,
    every,
    means,
    refuted_on,
    searched,
    unrefuted,
)
from draftproof.proofs_check.means import mean_on
from draftproof.theory.drafts.shape import every as full
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table

LEFT, RIGHT = (((), ()), ()), ((), ((), ()))
SHAPES = (full(2, 1), full(2, 2), LEFT, RIGHT, (full(1, 1),) * 2)
LATE = (((), ((),)),)
"""A token with two children, of which the second has one more: four drafted tokens."""


def late_child() -> Instance:
    """An instance on which traversal accepts less than recursive rejection: it enters the first token's
    children with rate 1/2, all of which goes to the first child, a leaf. Recursive rejection keeps the
    first token before it tries a child.
    """
    half, zero, one = ["1/2", "1/2"], ["1", "0"], ["0", "1"]
    proposal = Table.exact(2, {(): zero, (0,): half, (0, 0): zero, (0, 1): one})
    target = Table.exact(2, {(): half, (0,): zero, (0, 0): zero, (0, 1): zero})
    return Instance(target, proposal, Tree(LATE))


def _never_below(instance: Instance) -> bool:
    return mean_on(instance, "traversal") >= mean_on(instance, "rrs")


def _order_is_free(verifier: str) -> Callable[[Instance], bool]:
    return lambda each: mean_on(each, verifier, Tree(LEFT)) == mean_on(each, verifier, Tree(RIGHT))


def _small() -> Iterator[Related]:
    cases = [(2, shape) for shape in (*SHAPES, (full(2, 1),))] + [(3, full(2, 1))]
    for vocab, shape in cases:
        for rule, replacement in (("rrs", False), ("specinfer", True)):
            yield Related("never below", means("traversal"), means(rule), (vocab, Tree(shape, replacement)))


NEVER_BELOW = "Traversal Verification never accepts less than recursive rejection on the same tree"

CLAIMS = (
    every("recursive-lossless", "recursive rejection is lossless", "every tree"),
    every("traversal-lossless", "traversal is lossless", "every tree, both ways of drawing"),
    every(
        "traversal-rate",
        "traversal is lossless",
        "every tree, both ways of drawing",
        statement="A subtree of rate a is kept with probability exactly a, whatever its shape, and what is "
        "emitted below its root then follows the target.",
        source="weng2025traversal, Lemma A.2",
    ),
    every("traversal-is-block-on-a-chain", "traversal is block on a chain"),
    every(
        "traversal-above-recursive",
        "traversal is above recursive rejection, two levels",
        "every tree of depth 1 and 2, with replacement",
    ),
    Claim(
        "traversal-above-recursive-without",
        f"{NEVER_BELOW} of depth at most 2 drawn without replacement.",
        "open; measured in weng2025traversal",
        "five shapes of depth 1 and 2, V = 2 and 3",
        searched(_never_below, [Tree(shape) for shape in SHAPES], (2, 3), 100),
        verdict=unrefuted(1180),
        seconds=10,
    ),
    Claim(
        "traversal-above-recursive-small",
        f"{NEVER_BELOW} of depth at most 2, by sign cells.",
        "open; measured in weng2025traversal",
        "V = 2: a pair, two levels of pairs, a fork, two paths, both lopsided trees; V = 3: a pair; both "
        "ways of drawing",
        Together(*_small()),
        seconds=3,
        note="equal on pairs; without replacement at V = 2 above it only on two paths",
    ),
    Claim(
        "traversal-above-recursive-deep",
        f"{NEVER_BELOW}.",
        "open; measured in weng2025traversal",
        "a token with two children of which the second has one more, V = 2, without replacement",
        refuted_on(late_child, _never_below),
        verdict=REFUTED,
        note="E[tau] 1 of traversal, 5/4 of recursive rejection, with four drafted tokens: p(0) = 1/2 and "
        "q(0) = 1 at the root, p = (1, 0) below it, q = (1/2, 1/2) once. Traversal spends its rate 1/2 on "
        "the first child, a leaf",
    ),
    Claim(
        "sibling-order-traversal",
        "Which of two siblings carries the larger subtree makes no difference to E[tau] of Traversal "
        "Verification.",
        "open",
        "a root with two children, one of them with two more, V = 3, without replacement",
        searched(_order_is_free("traversal"), [Tree(LEFT)], [3], 100),
        verdict=REFUTED,
    ),
    Claim(
        "sibling-order-recursive",
        "Which of two siblings carries the larger subtree makes no difference to E[tau] of recursive "
        "rejection.",
        "open",
        "a root with two children, one of them with two more, V = 3, without replacement",
        searched(_order_is_free("rrs"), [Tree(LEFT)], [3], 100),
        verdict=REFUTED,
    ),
)
