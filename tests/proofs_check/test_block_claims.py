"""Block verification in other forms: Appendix A's sketch; broken versions are refused."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise, product

import pytest

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.checks import Related
from draftproof.proofs_check.claims.claim import SIZES
from draftproof.proofs_check.claims.quantities import Mean
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, excess, normalise, one, point, scale, share, total
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Draft, Stop, Verifier
from draftproof.theory.verifiers import named

Outcome = tuple[Prefix, int, int]
"""A draft, how many of its tokens are kept, and the token after them unless all are."""


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


def same_stops(rule: Verifier, vocab: int, depth: int) -> bool:
    """Whether with every draft the rule and block verification stop at each node, with each token, equally
    often, by sign cells.

    Tokens may be renamed, so the draft begins with 0.
    """
    outcomes = [
        ((0, *others), kept, y)
        for others in product(range(vocab), repeat=depth - 1)
        for kept in range(depth + 1)
        for y in range(vocab if kept < depth else 1)
    ]
    size, block = (vocab, Chain(depth)), named("block")
    parts = (Related("equal", stops_at(rule, at), stops_at(block, at), size) for at in outcomes)
    return all(part() == SIZES for part in parts)


def edited(module, name, old, new):
    """The function or class of a module after replacing a piece of its source."""
    source = inspect.getsource(getattr(module, name))
    assert source.count(old) == 1
    namespace = dict(vars(module))
    exec(source.replace(old, new), namespace)
    return namespace[name]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_sketch_has_the_law_of_block_verification(depth):
    for instance in Randoms(Chain(depth), 3, 8):
        ours, theirs = (emission(instance, rule) for rule in (SKETCH, named("block")))
        assert ours.law() == theirs.law()
        assert ours.stopped == theirs.stopped


@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_sketch_stops_as_block_verification_by_cells(depth):
    assert same_stops(SKETCH, 2, depth)


SKETCHES = {
    "the first token drawn ends the text": ("if total(row) > 0", "if stop is None and total(row) > 0"),
    "the residual is not scaled": ("excess(scale(w, p), q)", "excess(p, q)"),
    "no token always has mass 1": ("1 - w)", "1)"),
    "the ratio is not capped": ("share(w * p[x], q[x])", "w * p[x] / q[x]"),
    "the whole draft is kept with the last ratio": ("share(w * p[x], q[x])", "share(p[x], q[x])"),
}


@pytest.mark.parametrize("fault", SKETCHES)
def test_broken_sketches_are_refused(fault):
    verify = edited(sys.modules[__name__], "sketched", *SKETCHES[fault])
    assert not same_stops(replace(SKETCH, verify=verify), 2, 2)
