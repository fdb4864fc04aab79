"""A second opinion: every full cell of signs on its own, in other arithmetic and another order.

Shares nothing with the cells of `signs` but the verifier: drafts and coins are enumerated by
`simulators`, the law is gathered and compared by `theory.emission`, numbers are quotients of sympy's
own polynomials. Every comparison is answered on the way; where z3 does not rule the other answer out,
the whole run is repeated with it. Meant for two symbols and two tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from draftproof.proofs_check.claims.quantities import Mean
from draftproof.simulators.laws.enumerate import iteration, outcomes
from draftproof.theory.draft import Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.emission import Emission
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier
from tests.proofs_check.second_opinion.domain import Domain


@dataclass(frozen=True)
class Opinion:
    """Whether the statement holds in every full cell, and how many were looked at."""

    holds: bool
    cells: int
    wrong: Prefix | None = None


def second_opinion(verifier: Verifier, scheme: Scheme, vocab: int, seconds: float = 600.0) -> Opinion:
    """Losslessness for all real p and q, cell by cell. Raises OutOfTime.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> second_opinion(named("token"), Chain(1), 2).holds
    True
    """
    domain, cells = Domain(vocab, scheme.depth, seconds), 0
    target, proposal = domain.target, domain.proposal
    for _ in domain.answers.runs():
        emitted = Emission(target)
        stops = iteration(scheme, proposal, verifier, target, start=domain.number(1))
        for weight, draft, node, row in stops:
            if verifier.carry is None:
                emitted.add(weight, node, row)
                continue
            following = verifier.carry(target, proposal, draft, node)
            for stop in _completed(weight, node, row, following, scheme.depth):
                emitted.add(*stop)
        cells += 1
        if (wrong := emitted.wrong_prefix()) is not None:
            return Opinion(False, cells, wrong[0])
    return Opinion(True, cells)


def second_comparison(
    wanted: str, a: Mean, b: Mean, vocab: int, scheme: Scheme, seconds: float = 600.0
) -> Opinion:
    """Whether mean a is "equal" to mean b, or "never below" it, cell by cell. Raises OutOfTime."""
    domain, cells = Domain(vocab, scheme.depth, seconds), 0
    for _ in domain.answers.runs():
        one = domain.number(1)
        left, right = (
            sum((weight * value for weight, value in outcomes(partial(mean, domain), one)), one * 0)  # type: ignore[arg-type]
            for mean in (a, b)
        )
        cells += 1
        if not (left == right if wanted == "equal" else left >= right):
            return Opinion(False, cells)
    return Opinion(True, cells)


def _completed(
    weight: Number, node: Node, row: Row, following: Rows, depth: int
) -> Iterator[tuple[Number, Node, Row]]:
    # What comes out, continued by a target left behind up to the block's depth.
    if len(node.prefix) + 1 >= depth:
        yield weight, node, row
        return
    for token, mass in enumerate(row):
        if mass > 0:
            longer = Node((*node.prefix, token), None)
            yield from _completed(weight * mass, longer, following[longer.prefix], following, depth)
