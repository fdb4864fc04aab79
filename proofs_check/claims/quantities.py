"""The numbers that claims compare: what rules accept, and how much any rule can accept at the root."""

import re
from collections.abc import Callable
from typing import TypeAlias

from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.names import scheme as spelled
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Row, total
from draftproof.theory.shared.strata import rest_and_top, strata
from draftproof.theory.transport import single_step
from draftproof.theory.transport.siblings import SetLaw, independent_law, set_law
from draftproof.theory.transport.single_step import emitted, max_flow
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared.priority import included

Mean: TypeAlias = Callable[[Domain, Oracle], Symbol]
"""A mean as a sampler program on the tables of a domain: its expectation is compared."""


def siblings(draft: Scheme) -> int:
    """How many tokens are drafted at the root."""
    return 2 if isinstance(draft, SpecHub) else len(getattr(draft, "shape", ((),)))


def laws(draft: Scheme, q: Row) -> tuple[Row, ...]:
    """Rows from which independent draws give the root's tokens."""
    if isinstance(draft, Stratified):
        return strata(q, siblings(draft))
    return rest_and_top(q, 2) if isinstance(draft, Greedy | SpecHub) else (q,) * siblings(draft)


def draws(draft: Scheme, q: Row) -> SetLaw:
    """The law of the set of tokens that are drafted at the root."""
    if isinstance(draft, Tree):
        return set_law(q, siblings(draft), draft.replacement)
    return independent_law(laws(draft, q))


FORMULAS: dict[str, Callable[[Scheme, Row, Row], Number]] = {
    "alpha*": lambda draft, p, q: total(emitted(max_flow(draws(draft, q), p), p)),
    "subset minimum": lambda draft, p, q: single_step.subset_formula(p, draws(draft, q)),
    "prefix minimum": lambda draft, p, q: single_step.alpha(p, q, siblings(draft), draft.replacement)[0],  # type: ignore[attr-defined]
    "inclusion bound": lambda draft, p, q: single_step.inclusion_bound(p, included(laws(draft, q))),
}
"""Formulas of the root's rows p and q: the most that a rule can accept there, as the largest flow from drawn
sets to their tokens, as 1 + min over all sets H of p(H) - Pr(all drafts in H), and as that minimum over the
prefixes of the tokens sorted by q / p alone; and sum min(p, pi), pi the mean number of siblings by token.
"""


class Quantity:
    """A number as a claim's entry spells it, `[FACTOR] [tokens of] NAME [on DRAFT]`: E[tau] of a verifier, or
    1 more, the tokens of a call, or a formula. `recursive` is recursive rejection as the siblings are drawn.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> [Quantity(spelling).on(toy) for spelling in ("token", "1/2 tokens of token", "alpha* on tree+:2x1")]
    [10/9, 19/18, 8/9]
    """

    def __init__(self, spelling: str):
        found = re.fullmatch(r"(?:([\d/]+) )?(tokens of )?(.+?)(?: on (\S+))?", spelling)
        assert found, spelling
        factor, bonus, self.name, draft = found.groups()
        self.factor, self.bonus = exact(factor or 1), int(bool(bonus))
        self.draft = spelled(draft) if draft else None

    def mean(self, scheme: Scheme) -> Mean:
        """The quantity on a draft, for all p and q."""
        draft = self.draft or scheme
        if self.name in FORMULAS:
            return lambda domain, _: (
                domain.number(self.factor)
                * FORMULAS[self.name](draft, domain.target[()], domain.proposal[()])
            )
        return accepted(self._rule(draft), draft, self.factor, self.bonus)

    def on(self, instance: Instance) -> fmpq:
        """The quantity on one rational instance."""
        draft, p, q = self.draft or instance.draft, instance.target, instance.proposal
        if self.name in FORMULAS:
            return self.factor * FORMULAS[self.name](draft, p[()], q[()])
        found = emission(Instance(p, q, draft), self._rule(draft)).expected_accepted
        return self.factor * (self.bonus + found)

    def _rule(self, draft: Scheme) -> Verifier:
        recursive = "specinfer" if draft.label == "tree with replacement" else "rrs"
        return named(recursive if self.name == "recursive" else self.name)


def accepted(verifier: Verifier, scheme: Scheme, factor: fmpq = ONE, bonus: int = 0) -> Mean:
    """The number of accepted tokens, and `bonus`, so many times: its mean is E[tau]."""

    def mean(domain: Domain, oracle: Oracle) -> Symbol:
        node, _ = verifier.verify(oracle, draw(scheme, oracle, domain.proposal), domain.target)
        return domain.number(factor * (bonus + len(node.prefix)))

    return mean
