"""E[tau] for all p and q: equal, never below, or rational p and q that show otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from flint import fmpq

from draftproof.proofs_check.cells.cell import sides
from draftproof.proofs_check.cells.domain import Domain, draw, rational_points
from draftproof.proofs_check.cells.symbol import NEGATIVE, ZERO, Symbol
from draftproof.proofs_check.cells.tree import leaves, mapped
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named

Relation = Literal["equal", "never below", "refuted", "undecided"]
Mean = Callable[[Domain, Oracle], Symbol]
"""A mean as a sampler program on the tables of a domain: its expectation is compared."""


@dataclass(frozen=True)
class Comparison:
    """How one mean relates to another; `witness` is an instance on which it is below."""

    relation: Relation
    witness: Instance | None = None


def accepted(verifier: Verifier, scheme: Scheme) -> Mean:
    """The mean number of accepted tokens."""

    def mean(domain: Domain, oracle: Oracle) -> Symbol:
        node, _ = verifier.verify(oracle, draw(scheme, oracle, domain.proposal), domain.target)
        return domain.number(len(node.prefix))

    return mean


def compare(a: Mean, b: Mean, vocab: int, scheme: Scheme, seconds: float = 60.0) -> Comparison:
    """Whether mean a equals mean b, or is never below it, for all p and q of the draft's depth.

    A witness is given with the draft `scheme`. Raises OutOfTime after that many CPU seconds.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> block, token = (accepted(named(name), Chain(1)) for name in ("block", "token"))
    >>> compare(block, token, 2, Chain(1)).relation
    'equal'
    """
    domain = Domain(vocab, scheme.depth, seconds)
    enumeration, whole = domain.enumeration, domain.whole
    try:
        left = enumeration.expectation(partial(a, domain), whole)
        right = mapped(enumeration.expectation(partial(b, domain), whole), Symbol.__neg__)
    except Invalid:  # one of the two is the mean of no sampler
        return Comparison("undecided")
    relation: Relation = "equal"
    for cell, difference in leaves(whole, enumeration.sum(whole, left, right)):
        if cell.vanishes(difference.top):
            continue
        below, _ = sides(cell, difference.top * difference.bottom, NEGATIVE)
        if below is None:
            if sides(cell, difference.top, ZERO)[1] is not None:
                relation = "never below"
            continue
        for point in rational_points(below):
            return Comparison("refuted", Instance(*domain.at(point), scheme))
        return Comparison("undecided")
    return Comparison(relation)


def mean_on(instance: Instance, name: str, scheme: Scheme | None = None) -> fmpq:
    """The exact E[tau] of the named verifier on one rational instance; with another draft if given."""
    scheme = scheme or instance.draft
    return emission(Instance(instance.target, instance.proposal, scheme), named(name)).expected_accepted
