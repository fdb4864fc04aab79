"""Certificates of one size: a verifier's run on symbols as a tree of cuts, draws and texts, and the signs
that exclude each other, each with a proof. `proofs_check/certificates` has their checker.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations_with_replacement
from math import prod
from typing import Any

from flint import Ordering, fmpq_mpoly, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell, Cut, sides
from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.enumeration import Draw, Replay
from draftproof.proofs_check.cells.solver import Solver, rational
from draftproof.proofs_check.cells.symbol import ANY, NEGATIVE, POSITIVE, ZERO, Symbol, flip
from draftproof.proofs_check.prove import aim
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.theory.drafts import Scheme
from draftproof.theory.numbers import text
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.targets import ITSELF
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Verifier

STEPS = 1_000_000  # of what is learned in a cell, at most
DEGREE = 3  # factors of a product in a proof, at most
PRODUCTS = 5000  # that are tried


class Told:
    """An oracle whose draws say who draws, and after which tokens: those of the row if it is one of a table,
    else those of the draw before.
    """

    def __init__(self, oracle: Oracle, who: str, after: Prefix, rows: Iterable[tuple[Prefix, Row]] = ()):
        self.oracle, self.who, self.after, self.rows = oracle, who, after, list(rows)

    def choose(self, row: Row) -> int:
        self.after = next((prefix for prefix, each in self.rows if each is row), self.after)
        try:
            return self.oracle.choose(row)
        except Draw as stopped:
            raise Draw(stopped.args[0], self.who, self.after) from None

    def accept(self, probability: Any) -> bool:
        return self.oracle.accept(probability)


class Run:
    """A verifier on the domain of its proof. Facts name polynomials by their places in a list."""

    def __init__(self, domain: Domain, verifier: Verifier, scheme: Scheme, law: Declared = ITSELF):
        self.domain, self.verifier, self.scheme, self.law = domain, verifier, scheme, law
        self.solver = domain.enumeration.solver
        self.longest = domain.depth + domain.leaves
        self.places: dict[tuple[str, bool], int] = {}
        self.shape: tuple = ()  # of the drafts
        self.program = self.emitted

    def line(self) -> str:
        """The certificate; `children` of drafts whose draws the checker follows. Raises OutOfTime."""
        made: dict[str, Any] = {"cells": self.verifier.name, "tokens": self.domain.vocab, "steps": STEPS}
        start = (), self.domain.number(1), self.domain.whole
        made |= {"longest": self.longest, "run": self.after(*start)}
        if self.law.row is not None:
            rows = partial(aim, self.domain, self.law)  # anew in every cell
            self.program = lambda oracle: self.completed(oracle, (), rows()[()], rows())
            made["law"] = self.after(*start)
        empty = [sorted(facts) for facts, point in self.solver._answers.items() if point is None]
        excluded = map(self.excluded, sorted(empty))
        made["excluded"] = list({str(facts): (facts, why) for facts, why in excluded}.values())
        made["polynomials"] = [self.terms(*name) for name in self.places]
        if self.scheme.kind in ("chain", "paths", "tree"):
            made["children"], level = [], [self.shape]
            while any(level):
                made["children"].append(max(map(len, level)))
                level = [below for shape in level for below in shape]
            made["replacement"] = str(getattr(self.scheme, "replacement", True)).lower()
        return json.dumps(made, separators=(",", ":")) + "\n"

    def emitted(self, oracle: Oracle) -> Prefix:
        """The text of a call as far as the target does not go on alone."""
        domain = self.domain
        drafter = Told(oracle, "drafter", (), domain.proposal.given())
        draft = draw(self.scheme, drafter, domain.proposal)
        self.shape = draft.root.shape
        node, row = self.verifier.verify(oracle, draft, domain.target)
        following = aim(domain, self.law)
        if self.verifier.carry is not None:
            following = self.verifier.carry(domain.target, domain.proposal, draft, node)
        return self.completed(oracle, node.prefix, row, following)

    def completed(self, oracle: Oracle, word: Prefix, row: Row, following: Rows) -> Prefix:
        """The text, drawn from the row and those that follow as far as these are not the target's."""
        target = self.domain.target
        while len(word) < self.longest and not (following is target and row is target[word]):
            word = (*word, Told(oracle, "next", word).choose(row))
            row = following[word]
        return word

    def after(self, trail: tuple[int, ...], mass: Symbol, cell: Cell) -> Any:
        """What follows the draws of the trail in the cell, where the last of them has a mass."""
        self.domain.enumeration.cell = cell
        try:
            if not mass > 0:
                return "never"
            try:
                return self.program(Replay(trail))
            except Draw as stopped:
                branches, who, context = stopped.args
            if any(mass < 0 for _, mass in branches):
                raise Invalid("a probability is negative")
        except Cut as cut:
            return self.cut(cell, cut, partial(self.after, trail, mass))
        drawn = []
        for x, mass in reversed(branches):  # the checker adds the last one first
            mass = self.domain.enumeration.reduced(cell, mass)
            if mass.top:
                drawn.append([x, [self.weight(mass), self.after((*trail, x), mass, cell)]])
        return {who: [context, drawn]}

    def cut(self, cell: Cell, cut: Cut, go: Callable[[Cell], Any]) -> Any:
        """The parts of the cell, where the polynomial has such a sign and where it has not."""
        parts = [part for part in sides(cell, *cut.args) if part is not None]
        if len(parts) == 1:
            return go(parts[0])
        return {"cut": [self.fact(*self.solver.fact(*cut.args)), [go(part) for part in parts]]}

    def fact(self, key: str, signs: int, turned: bool = False) -> list[Any]:
        """The place of a polynomial, or of its negative, with the signs that it may have."""
        place = self.places.setdefault((key, turned), len(self.places))
        return [place, [at for at, each in enumerate((NEGATIVE, ZERO, POSITIVE)) if each & signs]]

    def terms(self, key: str, turned: bool) -> list[Any]:
        """Coefficients with their variables: 0 for p or 1 for q, the context and the token."""
        names = [name.split("_") for name in self.domain.number.variables.names()]
        words = [["pq".index(letter), *map(int, tokens)] for letter, *tokens in names]
        polynomial = self.solver.polynomials[key] * (-1 if turned else 1)
        return [
            [str(c), [word for word, power in zip(words, powers, strict=True) for _ in range(power)]]
            for powers, c in polynomial.terms()
        ]

    def weight(self, mass: Symbol) -> list[Any]:
        """A quotient: a number, and the factors of both sides."""
        factors = []
        for part in (mass.top, mass.bottom):
            found = [] if part.is_constant() else self.solver.factors(self.solver.canonical(part)[0])
            factors.append([self.fact(key, 0)[0] for key, power in found for _ in range(power)])
        return [text(mass.top.leading_coefficient() / mass.bottom.leading_coefficient()), factors]

    def excluded(self, facts: list[tuple[str, int]]) -> list[Any]:
        """Signs that exclude each other, without negative ones, and the proof if one is found."""
        self.solver.check_time()
        facts = [(key, signs) for key, signs in facts if signs != ANY]
        turned = [bool(signs & NEGATIVE) for _, signs in facts]
        literals = [
            (self.solver.polynomials[key] * (-1 if turn else 1), flip(signs) if turn else signs)
            for (key, signs), turn in zip(facts, turned, strict=True)
        ]
        found = refutation(literals)
        used = sorted({i for _, factors in found for i in factors}) if found else range(len(facts))
        sure = (set(factors) for _, factors in found if {literals[i][1] for i in factors} <= {POSITIVE})
        strict = min(sure, key=len, default=set(used))  # of the others zero would do
        signs = {i: literals[i][1] | ZERO * (i not in strict) for i in used}
        shown = [self.fact(facts[i][0], signs[i], turned[i]) for i in used]
        return [shown, [[c, list(map(used.index, factors))] for c, factors in found] if found else "z3"]


def refutation(literals: list[tuple[fmpq_mpoly, int]]) -> list[tuple[str, tuple[int, ...]]]:
    """A sum of products of literals, with coefficients, that is zero, though one summand is above zero and
    none below; empty if none is found.
    """
    one = literals[0][0].context().constant(1)
    for degree in range(1, DEGREE + 1):
        some = [i for i, (_, signs) in enumerate(literals) if not signs & NEGATIVE]
        products = [each for n in range(degree + 1) for each in combinations_with_replacement(some, n)]
        if len(products) > PRODUCTS:
            break
        multipliers = fmpq_mpoly_ctx.get([f"c{k}" for k in range(len(products))], Ordering.degrevlex).gens()
        sums: dict[tuple[int, ...], Any] = {}
        solver, facts, strict = Solver(), [], multipliers[0]
        for c, each in zip(multipliers, products, strict=True):
            for powers, coefficient in prod((literals[i][0] for i in each), start=one).terms():
                sums[powers] = sums.get(powers, 0) + coefficient * c
            signs = {literals[i][1] for i in each}
            if ZERO not in signs:
                facts.append(solver.fact(c, ZERO | POSITIVE))
            if each and signs == {POSITIVE}:
                strict += c
        facts += [solver.fact(each, ZERO) for each in sums.values() if each]
        _, found = solver.model([*facts, solver.fact(strict, POSITIVE)], products=False)
        if found:
            values = ((found.get(f"c{k}"), each) for k, each in enumerate(products))
            sizes = ((rational(c, 1), each) for c, each in values if c is not None)
            return [(text(c), each) for c, each in sizes if c]
    return []
