"""Verifiers of one path: block verification (sun2025block) and HSD (zhou2026hsd)."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product

from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.checks import Related, Together, refuted_on
from draftproof.proofs_check.claims.claim import REFUTED, SIZES
from draftproof.proofs_check.claims.quantities import Mean, Quantity
from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.enumerate import iteration
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.rows import Prefix, excess, normalise, one, point, scale, share, total
from draftproof.theory.table import Table
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import named

Outcome = tuple[Prefix, int, int]
"""A draft, how many of its tokens are kept, and the token after them unless all are."""


def _toy() -> str:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    found = [Quantity(name).on(toy) for name in ("token", "block", "greedy-block")]
    return SIZES if found == [fmpq(10, 9), fmpq(11, 9), fmpq(12, 9)] else REFUTED


ALL_EQUAL = context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(2))
"""p = q: all verifiers accept everything, at every depth."""


def _never_the_same(instance: Instance) -> bool:
    return len({Quantity(name).on(instance) for name in ("hsd", "block", "token")}) > 1


FALLING_AND_RISING = Instance(
    Table.exact(2, {(): ["1/2", "1/2"], (0,): ["1/5", "4/5"], (0, 0): ["4/5", "1/5"]}),
    Table.exact(2, {(): ["1/4", "3/4"], (0,): ["4/5", "1/5"], (0, 0): ["1/5", "4/5"]}),
    Chain(3),
)
"""Joint ratios 2, 1/2, 2 along 0 0 0: the last is above 1 again after one below 1."""


def _not_drawn_again(instance: Instance) -> bool:
    # Token 0 is never drawn again at the root.
    stops = iteration(instance.draft, instance.proposal, named("hsd-naive"), instance.target, start=fmpq(1))
    return not sum((weight * row[0] for weight, _, node, row in stops if node.prefix == ()), fmpq(0))


def sketched(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Block verification as one draw at each position: a token with mass (w p - q)+, or none with mass 1 - w.

    The last token that was drawn ends the text; after the whole draft q is 0, so that it is one of p with
    probability w. A position without any mass, such as one where p = q and w = 1, draws nothing.
    """
    stop, w = None, one(target[draft.root.prefix])
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        row = (*excess(scale(w, p), q), 1 - w)
        if total(row) > 0 and (drawn := oracle.choose(normalise(row))) < len(p):
            stop = node, point(drawn, p)
        w = share(w * p[x], q[x])
    if stop is None or oracle.accept(w):
        return draft.path[-1], target[draft.path[-1].prefix]
    return stop


SKETCH = Verifier("block as sketched", "sun2025block, Appendix A", CHAIN, lossless=True, verify=sketched)


def stops_at(rule: Verifier, outcome: Outcome) -> Callable[[Scheme], Mean]:
    """The probability that this is the draft, the node where the rule stops, and the token after it."""

    def mean(scheme: Scheme, domain: Domain, oracle: Oracle) -> Symbol:
        draft = draw(scheme, oracle, domain.proposal)
        node, row = rule.verify(oracle, draft, domain.target)
        whole = node is draft.path[-1]  # then the token comes from the target's own row
        found = draft.path[-1].prefix, len(node.prefix), 0 if whole else oracle.choose(row)
        return domain.number(int(found == outcome))

    return lambda scheme: partial(mean, scheme)


def same_stops(rule: Verifier, vocab: int, depth: int) -> Together:
    """With every draft the rule and block verification stop at each node, with each token, equally often.

    Tokens may be renamed, so the draft begins with 0.
    """
    outcomes = [
        ((0, *others), kept, y)
        for others in product(range(vocab), repeat=depth - 1)
        for kept in range(depth + 1)
        for y in range(vocab if kept < depth else 1)
    ]
    size, block = (vocab, Chain(depth)), named("block")
    return Together(*(Related("equal", stops_at(rule, at), stops_at(block, at), size) for at in outcomes))


CHECKS = {
    "block-example": _toy,
    "block-sketch": Together(same_stops(SKETCH, 2, 1), same_stops(SKETCH, 2, 2)),
    "hsd-naive-no-resampling": refuted_on(FALLING_AND_RISING, _not_drawn_again),
    "hsd-strictly-above": refuted_on(ALL_EQUAL, _never_the_same),
    "typical-lossless": lambda: prove(named("typical"), Chain(1), 2).verdict,
}
