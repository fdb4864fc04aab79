"""Verifiers of one path: block verification (sun2025block) and HSD (zhou2026hsd)."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product

from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.checks import (
    Lossless,
    Mean,
    Related,
    Together,
    chains,
    mean_on,
    refuted_on,
)
from draftproof.proofs_check.claims.claim import REFUTED, SIZES, Claim
from draftproof.simulators.laws.enumerate import iteration
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.rows import Prefix, excess, normalise, one, point, scale, share, total
from draftproof.theory.table import Table
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import named

Outcome = tuple[Prefix, int, int]
"""A draft, how many of its tokens are kept, and the token after them unless all are."""

TWO = "a chain of 2, V = 2"


def _toy() -> str:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    found = [mean_on(toy, name) for name in ("token", "block", "greedy-block")]
    return SIZES if found == [fmpq(10, 9), fmpq(11, 9), fmpq(12, 9)] else REFUTED


def _all_equal() -> Instance:
    # p = q: all verifiers accept everything, at every depth.
    return context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(2))


def _never_the_same(instance: Instance) -> bool:
    return len({mean_on(instance, name) for name in ("hsd", "block", "token")}) > 1


def _falling_and_rising() -> Instance:
    # Joint ratios 2, 1/2, 2 along 0 0 0: the last is above 1 again after one below 1.
    p = {(): ["1/2", "1/2"], (0,): ["1/5", "4/5"], (0, 0): ["4/5", "1/5"]}
    q = {(): ["1/4", "3/4"], (0,): ["4/5", "1/5"], (0, 0): ["1/5", "4/5"]}
    return Instance(Table.exact(2, p), Table.exact(2, q), Chain(3))


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


CLAIMS = (
    Claim(
        "block-example",
        "With p = (1/3, 2/3), q = (2/3, 1/3) everywhere and two drafted tokens, token verification accepts "
        "10/9, block verification 11/9, and full information 12/9.",
        "sun2025block, Section 2 (motivating example)",
        "that instance",
        _toy,
    ),
    Claim(
        "block-sketch",
        "Block verification is one draw at each position, of a token with mass (w p - q)+ or of none with "
        "mass 1 - w, where the last token drawn ends the text: both stop alike, with every draft.",
        "sun2025block, Appendix A (sketch) read so",
        "chains of 1 and 2, V = 2",
        Together(same_stops(SKETCH, 2, 1), same_stops(SKETCH, 2, 2)),
        seconds=8,
    ),
    Claim(
        "hsd-naive-no-resampling",
        "If the ratio at m is at most 1 and those after it are above 1, no X^t with t <= m is drawn again, "
        "be they ratios of prefixes or of tokens.",
        "zhou2026hsd, Lemma 4 as written",
        "a chain of 3, V = 2",
        refuted_on(_falling_and_rising(), _not_drawn_again),
        REFUTED,
        note="prefixes with ratios 2, 1/2, 2, tokens with 2, 1/4, 4: token X_1 is drawn again at the root. "
        "Losslessness needs only t = m for prefixes, which holds: p(X^m) <= q(X^m) leaves no residual",
    ),
    Claim(
        "hsd-strictly-above",
        "Beyond depth 1 HSD, block and token verification never all have the same E[tau].",
        "zhou2026hsd, Theorem 7, equality if and only if gamma = 1",
        TWO,
        refuted_on(_all_equal(), _never_the_same),
        REFUTED,
        note="p = q: all accept everything. HSD and block verification always agree (hsd-is-block)",
    ),
    Claim(
        "hsd-released-lossless",
        "HSD as released, with the uncapped joint ratio at the leaf, is lossless.",
        "zhou2026hsd, Listing 2 and repository",
        TWO,
        Lossless("hsd-released", *chains(2, 2)),
        REFUTED,
        note="p = (1/2, 1/2) and q = (1/3, 2/3) everywhere",
    ),
    Claim(
        "hsd-multidraft-released-lossless",
        "Multi-draft HSD as released, which carries the joint ratio over a stop, is lossless.",
        "zhou2026hsd, repository",
        TWO,
        Lossless("hsd-multidraft-released", *chains(2, 2)),
        REFUTED,
        note="one path suffices: its full path is kept with the uncapped ratio",
    ),
    Claim(
        "hsd-multidraft-lossless",
        "Multi-draft HSD with the ratio restarted after a stop and the leaf capped is lossless.",
        "zhou2026hsd, Algorithm 3 read so",
        "V = 2: a chain of 2, two paths of 1 and of 2",
        Lossless("hsd-multidraft", *chains(2, 2), (2, Paths(2, 1)), (2, Paths(2, 2))),
        seconds=10,
    ),
)
