"""alpha* of a single step, in the ways that claims compare."""

from collections.abc import Callable
from itertools import chain, combinations

from draftproof.proofs_check.claims.claim import Related, Together
from draftproof.proofs_check.means import Mean, by_row
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every as full
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.rows import Number, Row, one, total
from draftproof.theory.transport import single_step
from draftproof.theory.transport.siblings import top_and_sample
from draftproof.theory.transport.single_step import emitted, max_flow, set_law

PAIR = full(2, 1)
WITH, WITHOUT = Tree(PAIR, True), Tree(PAIR, False)
SMALL = "two drafts, V = 2 and 3"


def flow(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """alpha* as the largest flow from drawn sets to their tokens."""
    return lambda p, q: total(emitted(max_flow(set_law(q, k, replacement), p), p))


def greedy_flow(p: Row, q: Row) -> Number:
    """alpha* of the greedy draft of two as a flow."""
    return total(emitted(max_flow(top_and_sample(q, 2), p), p))


def subsets(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """1 + min over all sets H of p(H) - Pr(all drafts in H)."""
    return lambda p, q: single_step.subset_formula(p, set_law(q, k, replacement))


def prefixes(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """The same along prefixes of the tokens sorted by q / p."""
    return lambda p, q: single_step.alpha(p, q, k, replacement)[0]


def row(of: Callable[[Row, Row], Number]) -> Callable[[Scheme], Mean]:
    return lambda scheme: by_row(of)


def condition(p: Row, q: Row) -> Number:
    # 1 where alpha* = 1 exactly if p(S) >= q(S)^2 for every S, else 0.
    always = True
    for S in chain.from_iterable(combinations(range(len(p)), size) for size in range(1, len(p))):
        P, Q = sum((p[x] for x in S), p[0] - p[0]), sum((q[x] for x in S), p[0] - p[0])
        always = always and not P < Q * Q
    return one(p) * int((flow(True)(p, q) == 1) == always)


def always_one(p: Row, q: Row) -> Number:
    return one(p)


def both(a, b) -> Together:
    # a and b take whether draws are with replacement; V = 2 and 3.
    cases = [(vocab, Chain(1)) for vocab in (2, 3)]
    return Together(*(Related("equal", row(a(with_)), row(b(with_)), *cases) for with_ in (False, True)))
