"""E[tau] for all p and q: equal, never below, or rational p and q that show otherwise."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal

from flint import fmpq

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.cutting import sides
from draftproof.proofs_check.cells.deferred import draw
from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.points import rational_points
from draftproof.proofs_check.cells.signs import Program
from draftproof.proofs_check.cells.signset import NEGATIVE, ZERO
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.cells.tree import leaves, mapped
from draftproof.simulators.enumerate import emission
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Row, minimum
from draftproof.theory.verifier import Verifier

Relation = Literal["equal", "never below", "refuted", "undecided"]
Mean = Callable[[Domain], Program]


@dataclass(frozen=True)
class Comparison:
    """How one mean relates to another; `witness` is a target and proposal where it is below."""

    relation: Relation
    cells: int
    witness: Instance | None = None


def accepted(verifier: Verifier, scheme: Scheme) -> Mean:
    """The mean number of accepted tokens."""

    def mean(domain: Domain) -> Program:
        def program(oracle: Oracle) -> Symbol:
            node, _ = verifier.verify(oracle, draw(scheme, oracle, domain.proposal), domain.target)
            return domain.signs.number(len(node.prefix))

        return program

    return mean


def formula(of: Callable[[Domain], Any]) -> Mean:
    """A closed form, which may compare and take minima."""
    return lambda domain: lambda oracle: of(domain)


def words(domain: Domain) -> Iterator[list[tuple[Symbol, Symbol]]]:
    """The pairs (p, q) along every word of 1 .. depth tokens."""
    for length in range(1, domain.depth + 1):
        for word in product(range(domain.vocab), repeat=length):
            yield [(domain.target[word[:i]][x], domain.proposal[word[:i]][x]) for i, x in enumerate(word)]


def token_mean(domain: Domain) -> Number:
    """sum over words of the product of min(p, q) (leviathan2023fast)."""
    one = domain.signs.number(1)
    return sum((prod((minimum(p, q) for p, q in word), start=one) for word in words(domain)), one * 0)


def greedy_mean(domain: Domain) -> Number:
    """sum over words of min(p(word), q(word)): the full-information optimum."""
    one = domain.signs.number(1)
    joint = ([prod(row, start=one) for row in zip(*word, strict=True)] for word in words(domain))
    return sum((minimum(P, Q) for P, Q in joint), one * 0)


def block_mean(domain: Domain) -> Number:
    """sum over words of q(word) w(word), carried as Q w = min(Q, the one before times p) (sun2025block)."""
    out = domain.signs.number(0)
    for word in words(domain):
        Q = carried = domain.signs.number(1)
        for p, q in word:
            Q = Q * q
            carried = minimum(carried * p, Q)
        out = out + carried
    return out


def by_row(of: Callable[[Row, Row], Any]) -> Mean:
    """A closed form of the root's rows p and q alone."""
    return formula(lambda domain: domain.signs.number(1) * of(domain.target[()], domain.proposal[()]))


def compare(a: Mean, b: Mean, vocab: int, scheme: Scheme, seconds: float = 60.0) -> Comparison:
    """Whether mean a equals mean b, or is never below it, for all p and q of the draft's depth.

    A witness is given with the draft `scheme`. Raises OutOfTime after that many CPU seconds.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> block, token = (accepted(named(name), Chain(1)) for name in ("block", "token"))
    >>> compare(block, token, 2, Chain(1)).relation
    'equal'
    """
    domain = Domain(vocab, scheme.depth, seconds=seconds)
    signs, whole = domain.signs, domain.whole
    left = signs.expectation(a(domain), whole)
    right = mapped(signs.expectation(b(domain), whole), Symbol.__neg__)
    relation: Relation = "equal"
    for cell, difference in leaves(whole, signs.sum(whole, left, right)):
        if cell.vanishes(difference.top):
            continue
        below = _below(cell, difference)
        if below is None:
            if sides(cell, difference.top, ZERO)[1] is not None:
                relation = "never below"
            continue
        for point in rational_points(below):
            return Comparison("refuted", signs.cells, Instance(*domain.at(point), scheme))
        return Comparison("undecided", signs.cells)
    return Comparison(relation, signs.cells)


def _below(cell: Cell, difference: Symbol) -> Cell | None:
    # The part of the cell where the difference is negative, its denominator's sign taken into account.
    product = difference.top * difference.bottom
    return sides(cell, product, NEGATIVE)[0]


def mean_on(instance: Instance, verifier: Verifier, scheme: Scheme) -> fmpq:
    """The exact E[tau] on one rational instance, to confirm a witness."""
    return emission(Instance(instance.target, instance.proposal, scheme), verifier).expected_accepted
