"""The unknowns of a proof: rows and numbers made on request, and expectations over them."""

from collections.abc import Callable, Sequence
from time import thread_time
from typing import Any

from flint import Ordering, fmpq_mpoly, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell, with_fact
from draftproof.proofs_check.cells.enumeration import Enumeration
from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import ANY, NEGATIVE, POSITIVE, ZERO, Symbol
from draftproof.proofs_check.cells.tree import leaves
from draftproof.proofs_check.every_size.machine.flow import NotFollowed
from draftproof.proofs_check.every_size.machine.values import Row
from draftproof.theory.oracle import Oracle

LAW, PART, UNIT = "law", "part", "unit"
"""Kinds of unknowns: a row of mass 1; a row of any mass; a number in [0, 1]."""


BRIEF = 200
"""Milliseconds for a question to z3: whether a cut leaves both sides."""


class Grow(Exception):
    """The proof needs one more unknown: (name, kind)."""


class Classify(Exception):
    """Tokens have to be told apart by the sign of a form: [the form of y, of the individual token if there is
    one, and of every class].
    """


class Assume(Exception):
    """What is assumed of the unknowns: (a polynomial, its possible signs)."""


class Space:
    """Unknown rows over `tokens` tokens and unknown numbers, by name, and the cell of all their values.

    A row's last entry is 1 minus the others. `individual` is the index of a token whose entries are
    compared as those of one token, not of a class; `forms` collects what is found out about its signs.
    """

    def __init__(
        self,
        unknowns: dict[str, str],
        tokens: int,
        individual: int | None,
        seconds: float,
        signs: Sequence[tuple[fmpq_mpoly, int]] = (),
    ):
        self.tokens, self.individual = tokens, individual
        names = [name for unknown, kind in unknowns.items() for name in _names(unknown, kind, tokens)]
        context = fmpq_mpoly_ctx.get(names or ["unused"], Ordering.degrevlex)
        self.enumeration = Enumeration(context, thread_time() + seconds, checked=True)
        self.number = self.enumeration.number
        self.solver: Solver = self.enumeration.solver
        self.known: dict[str, Any] = {}  # rows and numbers, by name
        self.classified: list[fmpq_mpoly] = []
        self.whole, self.possible = self._cell(self._facts(unknowns, signs))
        self.own = [
            at
            for at, name in enumerate(context.names())
            if individual is not None and name.endswith(f"_{individual}") and name != "unused"
        ]
        self.forms: set[str] = set()
        self.whole_class = list(context.gens())  # the individual token is all of the last class
        for at in self.own:
            row = self.known[context.names()[at].rsplit("_", 1)[0]]
            self.whole_class[at] = row[individual].top + row[-1].top
        plain = self.number.within

        def within(signs: int, *product: fmpq_mpoly) -> bool:
            for polynomial in product if self.own else ():
                self.forms |= self.own_factors(polynomial)
            return plain(signs, *product)

        self.number.within = staticmethod(within)  # type: ignore[assignment]

    def _facts(self, unknowns: dict[str, str], signs: Sequence[tuple[fmpq_mpoly, int]]) -> dict[str, int]:
        # Makes the unknowns, and returns the signs of forms: entries and numbers are at least 0.
        context, facts = self.enumeration.number.variables, dict[str, int]()

        variables = dict(zip(context.names(), context.gens(), strict=True))
        for unknown, kind in unknowns.items():
            entries = [variables[name] for name in _names(unknown, kind, self.tokens)]
            if kind in (LAW, UNIT):
                entries.append(context.constant(1) - sum(entries, context.constant(0)))
            facts |= dict(self.solver.fact(entry, ZERO | POSITIVE) for entry in entries)
            if kind in (LAW, PART):
                row = self.known[unknown] = Row(map(self.number, entries))
                row.positive = True
            else:
                self.known[unknown] = self.number(entries[0])
        for (
            form,
            allowed,
        ) in signs:  # of spaces with the same tokens, where fewer unknowns may have been known
            assert variables.keys() >= set(form.context().names()) - set(form.unused_gens())
            polynomial = form.project_to_context(context)
            self.classified.append(polynomial)
            if polynomial.is_constant():
                continue
            key, allowed = self.solver.fact(polynomial, allowed)
            facts[key] = facts.get(key, ANY) & allowed
        return facts

    def _cell(self, facts: dict[str, int]) -> tuple[Cell, bool]:
        # The cell of all values with these signs, and whether any are known to exist.
        self.solver.milliseconds = BRIEF
        found = self.solver.find(facts.items())
        whole = Cell(self.solver, facts)
        for key in [key for key, allowed in facts.items() if allowed == ZERO]:
            whole = with_fact(whole, key, ZERO, None)
        return whole, found is not None

    def get(self, name: str, kind: str) -> Any:
        """The unknown of that name. Raises Grow where the space has none."""
        if name not in self.known:
            raise Grow(name, kind)
        return self.known[name]

    def expectation(self, program: Callable[[Oracle], Symbol]) -> list[tuple[Cell, Symbol]]:
        """The parts of the space, each with the expectation of the program as a rational function."""
        return leaves(self.whole, self.enumeration.expectation(program, self.whole))

    def linear(self, number: Symbol) -> bool:
        """Whether the number is linear in the individual token's entries, or zero."""
        return not number.top or (
            self.own_degree(number.top) == {1} and self.own_degree(number.bottom) == {0}
        )

    def own_degree(self, polynomial: fmpq_mpoly) -> set[int]:
        """The degrees of the polynomial's terms in the individual token's entries."""
        return {sum(int(powers[at]) for at in self.own) for powers, _ in polynomial.terms()}

    def assume(self, number: Symbol, signs: int) -> None:
        """Raises Assume unless the number is known to have one of the signs."""
        form = number.top * number.bottom if signs != ZERO else number.top
        if self.enumeration.cell.signs(form) & ~signs:
            raise Assume(form, signs)

    def classify(self, differences: Sequence[Symbol]) -> list[bool]:
        """Whether the difference is at most 0, for y and every class of tokens: where it is 0, either
        answer. Raises Classify unless that is known.
        """
        forms = [difference.top * difference.bottom for difference in differences]
        signs = [self.whole.signs(form) for form in forms]
        if any(known & NEGATIVE and known & POSITIVE for known in signs):
            raise Classify(forms)
        return [bool(known & NEGATIVE) or known == ZERO for known in signs]

    def own_factors(self, polynomial: fmpq_mpoly) -> set[str]:
        """The factors of the polynomial that have entries of the individual token in them."""
        if polynomial.is_constant() or self.own_degree(polynomial) == {0}:
            return set()
        key, _ = self.solver.canonical(polynomial)
        factors = (factor for factor, _ in self.solver.factors(key))
        return {factor for factor in factors if self.own_degree(self.solver.polynomials[factor]) != {0}}

    def own_forms(self) -> set[str]:
        """The forms in the drafted token's entries whose signs were asked for. The last class's entries are 1
        minus the others, so that its forms have them too: those vanish where the class is the individual
        token alone.
        """
        out = set()
        for form in self.forms:
            polynomial = self.solver.polynomials[form]
            if self.own_degree(polynomial) == {1}:
                out.add(form)
            elif polynomial.compose(*self.whole_class, ctx=self.number.variables):
                raise NotFollowed(f"a comparison that is not linear in a token's entries: {form}")
        return out


def _names(unknown: str, kind: str, tokens: int) -> list[str]:
    if kind in (LAW, PART):
        return [f"{unknown}_{t}" for t in range(tokens - (kind == LAW))]
    return [unknown]
