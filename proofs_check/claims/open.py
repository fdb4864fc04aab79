"""Questions that the papers leave open, attacked at small sizes and by search."""

from collections.abc import Iterator

from proofs_check.claims.claim import REFUTED, SIZES, Claim, mean_relation, searched
from proofs_check.means import accepted, mean_on
from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from theory.drafts.shape import every
from theory.drafts.tree import Tree
from theory.instance import Instance
from theory.verifiers import named

LEFT, RIGHT = (((), ()), ()), ((), ((), ()))
SHAPES = (every(2, 1), every(2, 2), LEFT, RIGHT, (every(1, 1),) * 2)


def _instances(replacement: bool) -> Iterator[Instance]:
    for shape in SHAPES:
        for vocab, size in ((2, 600), (3, 300)):
            scheme = Tree(shape, replacement)
            yield from Scenarios(scheme, vocab)
            yield from Randoms(scheme, vocab, size)


def _never_below(instance: Instance) -> bool:
    rule = named("specinfer" if instance.draft.replacement else "rrs")  # type: ignore[attr-defined]
    return mean_on(instance, named("traversal"), instance.draft) >= mean_on(instance, rule, instance.draft)


def _both() -> Iterator[Instance]:
    yield from _instances(False)
    yield from _instances(True)


def _order_is_free(verifier: str):
    def holds(instance: Instance) -> bool:
        rule = named(verifier)
        return mean_on(instance, rule, Tree(LEFT)) == mean_on(instance, rule, Tree(RIGHT))

    return holds


def _lopsided() -> Iterator[Instance]:
    yield from Scenarios(Tree(LEFT), 3)
    yield from Randoms(Tree(LEFT), 3, 100)


CLAIMS = (
    Claim(
        "traversal-above-recursive-small",
        "Traversal Verification never accepts less than recursive rejection on the same tree.",
        "open; measured in weng2025traversal",
        "V = 2: a pair, two levels of pairs, a fork, two paths, both lopsided trees; V = 3: "
        "a pair; both ways of drawing",
        SIZES,
        30.0,
        lambda: _small(),
        "equal on pairs; without replacement at V = 2 above it only on two paths",
    ),
    Claim(
        "traversal-above-recursive",
        "Traversal Verification never accepts less than recursive rejection on the same tree.",
        "open; measured in weng2025traversal",
        "five shapes of depth 1 and 2, V = 2 and 3, both ways of drawing",
        "no counterexample in 9,360 exact instances",
        40.0,
        searched(_both, _never_below),
    ),
    Claim(
        "sibling-order-traversal",
        "Which of two siblings carries the larger subtree makes no difference to E[tau] of "
        "Traversal Verification.",
        "open",
        "a root with two children, one of them with two more, V = 3, without replacement",
        REFUTED,
        1.0,
        searched(_lopsided, _order_is_free("traversal")),
    ),
    Claim(
        "sibling-order-recursive",
        "Which of two siblings carries the larger subtree makes no difference to E[tau] of "
        "recursive rejection.",
        "open",
        "a root with two children, one of them with two more, V = 3, without replacement",
        REFUTED,
        1.0,
        searched(_lopsided, _order_is_free("rrs")),
    ),
)


def _small() -> str:
    cases = [(2, shape) for shape in (*SHAPES, (every(2, 1),))] + [(3, every(2, 1))]
    for vocab, shape in cases:
        for rule, replacement in (("rrs", False), ("specinfer", True)):
            scheme = Tree(shape, replacement)
            a, b = (accepted(named(name), scheme) for name in ("traversal", rule))
            verdict = mean_relation("never below", a, b, (vocab, scheme.depth))()
            if verdict != SIZES:
                return verdict
    return SIZES
