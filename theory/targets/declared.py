"""A declared target: the law that a rule follows instead of p, or the distance from p that it promises."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Self

from flint import fmpq

from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.numbers import exact, text
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Draft, Stop, Verifier
from draftproof.theory.verifiers import token
from draftproof.theory.verifiers.shared.modified_target import Replaced

TOTAL_VARIATION, KL = "TV", "KL(emitted, target)"
"""What a budget bounds: for one token, between the row that is emitted and the target's row p."""


class Computed:
    """A model whose rows are what `row` makes of a prefix."""

    def __init__(self, vocab: int, row: Callable[[Prefix], Row]):
        self.vocab, self._row = vocab, row

    def __getitem__(self, prefix: Prefix) -> Row:
        return self._row(prefix)


@dataclass(frozen=True)
class Budget:
    """How far from p a rule says its tokens stay: `measure` is at most `bound(p, q, parameter)`.

    `kept`: whether the rule is declared to keep it.
    """

    measure: str
    bound: Callable[[Row, Row, fmpq], fmpq]
    kept: bool


@dataclass(frozen=True, kw_only=True)
class Parametrised:
    """A rule's name and, where it has one, its parameter, from 0 to `most`."""

    name: str
    parameter: Any = None  # an fmpq where the rule has one
    most: fmpq | None = None

    def __str__(self) -> str:
        return self.name if self.parameter is None else f"{self.name}:{text(self.parameter)}"

    def at(self, spelling: str) -> Self:
        """The same with another parameter; BadInput for one that it does not have or that is out of range."""
        if self.parameter is None:
            raise BadInput(f"{self.name} has no parameter, so {quoted(spelling)} has no place")
        value = exact(spelling)
        if value < 0 or (self.most is not None and value > self.most):
            most = "up" if self.most is None else f"to {text(self.most)}"
            raise BadInput(f"{self.name}: the parameter goes from 0 {most}, not {quoted(spelling)}")
        return replace(self, parameter=value)


@dataclass(frozen=True)
class Declared(Parametrised):
    """A rule with another aim than p, and its declarations.

    `row(p, q, parameter)` is the law pi that the rule follows at every drafted token; None for a rule that is
    the law of nothing but itself. `verify(parameter, oracle, draft, target)` is the rule; None for token
    verification of pi, whose extra token after a whole accepted draft comes from p, since the drafter has no
    row there. `most`: the largest parameter. `ordered` is that of a `Verifier`.

    >>> from draftproof.theory.targets import declared
    >>> law = declared("interpolation:1/3")
    >>> law.row((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)), law.parameter)
    (2/3, 1/3)
    """

    name: str
    source: str
    row: Callable[[Row, Row, fmpq], Row] | None = None
    verify: Callable[[fmpq, Oracle, Draft, Rows], Stop] | None = None
    budget: Budget | None = None
    ordered: bool = False

    def rows(self, target: Rows, proposal: Rows, depth: int | None = None) -> Rows:
        """The rows of pi, of p for a rule without one; with a `depth` those of p from that length on."""
        law = self.row

        @cache
        def row(prefix: Prefix) -> Row:
            p = target[prefix]
            if law is None or (depth is not None and len(prefix) >= depth):
                return p
            return law(p, proposal[prefix], self.parameter)

        return Computed(target.vocab, row)

    @property
    def kept(self) -> bool:
        """Whether the rule is declared to meet its own target: to follow the law, or to keep the budget."""
        return self.budget.kept if self.budget else self.row is not None

    @property
    def rule(self) -> Verifier:
        """The rule as a verifier, lossy for p as it is."""
        verify = partial(follow, self) if self.verify is None else partial(self.verify, self.parameter)
        return Verifier(str(self), self.source, CHAIN, False, verify, ordered=self.ordered)


def follow(
    law: Declared,
    oracle: Oracle,
    draft: Draft,
    target: Rows,
    verify: Callable[[Oracle, Draft, Rows], Stop] | None = None,
) -> Stop:
    """A verifier that is lossless for every target, token verification if none is given. For p it is shown pi
    at every node with drafted children, and p at the leaves.
    """
    rows = {
        node.prefix: law.row(target[node.prefix], node.proposal, law.parameter)  # type: ignore[misc]
        for node in draft.root
        if node.children
    }
    return (verify or token.verify)(oracle, draft, Replaced(target, rows))
