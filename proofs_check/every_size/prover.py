"""Proves a verifier lossless for every vocabulary, every draft of its kinds, and all p and q, from its own code."""
import os

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from time import thread_time
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.proofs_check.cells.cell import sides
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO, Symbol
from draftproof.proofs_check.cells.symbol import sign as sign_of
from draftproof.proofs_check.every_size.claims import Claim, Hypotheses, Weaken
from draftproof.proofs_check.every_size.flow import Function, Loop, NotFollowed, flow_of
from draftproof.proofs_check.every_size.run import Decide, Refuted, Run, Vacuous
from draftproof.proofs_check.every_size.space import Assume, Classify, Grow, Space, Terms, terms_of
from draftproof.proofs_check.every_size.values import Named
from draftproof.theory.verifier import ALL, Verifier

MODES = {
    "chain": "chain",
    "tree with replacement": "with replacement",
    "tree without replacement": "without replacement",
    "paths": "without replacement",
}

DEBUG = os.environ.get('DBG')


class Fails(Exception):
    """A claim does not hold in some part of the space."""


class MoreClasses(Exception):
    """More patterns of signs are possible than there are classes of tokens."""

    def __init__(self, needed: int):
        super().__init__(f"{needed} classes are needed")
        if needed > 4:
            raise NotFollowed(f"{needed} classes of tokens")
        self.needed = needed


@dataclass(frozen=True)
class Form:
    """A form in a token's entries that was compared with 0, with the sign that it has on y, on the individual token
    if there is one, and on every class; or an assumption, which tells no tokens apart.
    """

    signs: list[tuple[Terms, int]]
    tells_apart: bool = True


BELOW, ABOVE = NEGATIVE | ZERO, ZERO | POSITIVE
Check: TypeAlias = Callable[[Space], set[str]]


@dataclass
class Result:
    """The verdict "proved" or "not followed", with `why`; `claims` are the induction hypotheses that were found."""

    verifier: str
    verdict: str
    why: str = ""
    claims: list[str] = field(default_factory=list)
    seconds: float = 0.0
    modes: list[str] = field(default_factory=list)


def prove_every_size(verifier: Verifier, seconds: float = 60.0) -> Result:
    started = thread_time()
    result = Result(verifier.name, "proved")
    try:
        modes = list(dict.fromkeys(MODES.get(label, "any") for label in verifier.drafts))
        if "any" in modes:
            modes = ["any"]
        modes.sort(key=lambda mode: mode == "chain")  # a chain is a tree of either kind
        asked = False
        for mode in modes:
            if mode == "chain" and (("without replacement" in modes) or ("with replacement" in modes and not asked)):
                continue
            proof = Proof(verifier, mode, started + seconds)
            proof.prove()
            asked = asked or proof.hypotheses.asked_draft
            result.modes.append(mode)
            result.claims += proof.told()
    except (NotFollowed, Fails, Refuted, OutOfTime, ZeroDivisionError) as error:
        result.verdict, result.why = "not proved", f"{type(error).__name__}: {error}"
    result.seconds = round(thread_time() - started, 3)
    return result


class Proof:
    def __init__(self, verifier: Verifier, mode: str, deadline: float):
        if verifier.carry is not None:
            raise NotFollowed("a verifier that changes the target of later iterations")
        self.root = flow_of(verifier.verify)
        self.mode, self.deadline = mode, deadline
        self.unknowns: dict[str, str] = {}
        self.hypotheses = Hypotheses({}, {})
        self.tries = 0
        self.classes = 2

    def prove(self) -> None:
        chosen: dict[Any, int] = {}
        last: Exception | None = None
        while True:
            try:
                self.attempt(chosen)
                return
            except (Fails, Refuted, NotFollowed, Weaken, ZeroDivisionError) as error:
                if DEBUG: print("   ", {repr(p): (p in self.hypotheses.claims and self.hypotheses.chosen.get(p,0)) for p in self.hypotheses.order[1:]}, type(error).__name__, str(error)[:300])
                last = error if last is None or isinstance(error, Fails) else last
                self.tries += 1
                if thread_time() > self.deadline:
                    raise OutOfTime("no time left") from None
                for place in reversed(self.hypotheses.order[1:]):
                    at = chosen.get(place, 0)
                    claim = self.hypotheses.claims[place]
                    if at + 1 < len(claim.options()):
                        chosen[place] = at + 1
                        break
                    chosen[place] = 0
                else:
                    raise error if not isinstance(error, Weaken) else NotFollowed(str(error))

    def attempt(self, chosen: dict[Any, int]) -> None:
        facts: dict[Any, dict[str, int]] = {}
        while True:
            self.hypotheses = hypotheses = Hypotheses(chosen, facts)
            self.unknowns = {}
            names = [Named(name) for name in ("oracle", "draft", "target")]
            env = dict(zip(self.root.parameters, names, strict=True))
            hypotheses.assume(self.root, self.root, env, frozenset())
            try:
                for place in hypotheses.order:  # which grows as places are reached
                    hypotheses.current = hypotheses.claims[place]
                    self.scenarios(hypotheses.current, {})
                return
            except Weaken:
                continue
            except MoreClasses as more:
                self.classes = more.needed

    def scenarios(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim in every scenario of answers to what depends on the draft."""
        try:
            self.obligation(claim, scenario)
        except Decide as decide:
            for answer in decide.answers:
                self.scenarios(claim, {**scenario, decide.question: answer})

    def obligation(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim in one scenario; a drafted token of a known law is averaged over."""
        if scenario.get("token") == "all":
            self.on_all_classes(lambda space: self.exactly(space, claim, scenario), False)
            self.on_all_classes(lambda space: self.linear(space, claim, {**scenario, "token": "z"}), True)
            return
        self.hypotheses.passes = False
        self.on_all_classes(lambda space: self.exactly(space, claim, scenario), scenario.get("token") == "z")
        if self.hypotheses.passes:
            self.on_all_classes(lambda space: self.linear(space, claim, scenario), True)

    def on_all_classes(
        self, check: Check, individual: bool, forms: Sequence[Form] = ()
    ) -> None:
        """The check on every way that the classes of tokens can be told apart by the forms that are compared.

        `forms` has the signs of each form so far, for the individual token and for every class. Of classes, which
        are interchangeable, the order does not matter; where there are two, they differ.
        """
        tokens = 1 + individual + self.classes
        while True:
            signs = [sign for form in forms for sign in form.signs]
            space = Space(self.unknowns, tokens, 1 if individual else None, self.deadline - thread_time(), signs)
            if forms and not space.possible:
                return
            try:
                loose = check(space)
                break
            except Grow as grow:
                self.unknowns[grow.name] = grow.kind
            except Assume as new:
                forms = [*forms, Form([(new.terms, new.signs)], tells_apart=False)]
            except Classify as new:
                self.told_apart(check, individual, list(forms), new.forms)
                return
        real = [form for form in loose if len(terms_of(space.solver.polynomials[form])) > 1]
        needed = 1 + sum(form.tells_apart for form in forms) + len(real) + len(space.explicit)
        if needed > self.classes:
            if DEBUG: print("MORE", needed, [f.tells_apart for f in forms], real, space.explicit, loose)
            raise MoreClasses(needed)

    def told_apart(self, check: Check, individual: bool, forms: list[Form], terms: list[Terms]) -> None:
        """The check for the signs that one more form can have, on y, the individual token and every class.

        Where classes have had the same signs so far and the form can have either sign on them, they are to differ in
        the end: as many forms are expected as there are classes, less one. The order of such classes does not matter,
        but for the class of the individual token, which is the last.
        """
        known = [sign for form in forms for sign in form.signs]

        tokens = 1 + individual + self.classes
        space = Space(self.unknowns, tokens, 1 if individual else None, 1e9, known)

        def possible(form: Terms, sign: int) -> bool:
            if not form.keys() - {()}:
                return bool(sign_of(form.get((), fmpq(0))) & sign)
            if space.excludes(form, sign):
                return False
            return Space(self.unknowns, tokens, 1 if individual else None, 1e9, [*known, (form, sign)]).possible

        can = [
            tuple(closed for open_, closed in ((NEGATIVE, BELOW), (POSITIVE, ABOVE)) if possible(form, open_))
            or (BELOW,)
            for form in terms
        ]
        if all(len(options) == 1 for options in can):  # the form tells no more tokens apart
            signs = [(form, options[0]) for form, options in zip(terms, can, strict=True)]
            self.on_all_classes(check, individual, [*forms, Form(signs, tells_apart=False)])
            return
        first = 1 + individual
        told = [form for form in forms if form.tells_apart]
        before = [tuple(form.signs[first + i][1] for form in told) for i in range(self.classes)]
        most = 2 ** max(0, self.classes - 2 - len(told))
        free = range(self.classes - individual)
        for of_classes in product(*can[first:]):
            after = Counter(
                (*old, new)
                for old, new, options in zip(before, of_classes, can[first:], strict=True)
                if len(options) == 2
            )
            in_order = all(
                of_classes[i] <= of_classes[j] or can[first + i] != can[first + j]
                for i in free
                for j in free
                if i < j and before[i] == before[j]
            )
            if not in_order or max(after.values(), default=0) > most:
                continue
            of_own = [NEGATIVE if of_classes[-1] == BELOW else ABOVE] * individual
            for of_y in can[0]:
                signs = [NEGATIVE if of_y == BELOW else ABOVE, *of_own, *of_classes]
                self.on_all_classes(check, individual, [*forms, Form(list(zip(terms, signs, strict=True)))])

    def exactly(self, space: Space, claim: Claim, scenario: dict[str, Any]) -> set[str]:
        """The mass of y is what the claim says."""

        def program(oracle: Any) -> Symbol:
            run = Run(space, oracle, scenario, self.mode, self.hypotheses)
            want = self.hypotheses.wanted(run, claim)
            try:
                return self.hypotheses.begin(run, claim) - want
            except Vacuous:
                return space.number(0)

        for cell, value in space.expectation(program):
            if not cell.agree(value, space.number(0)):
                _, differs = sides(cell, value.top, ZERO)
                if differs is not None and not space.surely_empty(differs):
                    raise Fails(f"{claim.place!r}, {scenario}: mass differs by {value}")
        return set()

    def linear(self, space: Space, claim: Claim, scenario: dict[str, Any]) -> set[str]:
        """A drafted token of a class adds what is linear in its entries, so that a class acts like one token."""
        drawn: set[str] = set()  # a drafted token's entry of its law is above zero

        def program(oracle: Any) -> Symbol:
            run = Run(space, oracle, scenario, self.mode, self.hypotheses)
            try:
                value = self.hypotheses.begin(run, claim)
            except Vacuous:
                return space.number(0)
            if run.drawn_from is None:
                return space.number(0)
            law = run.worked_out(run.drawn_from)[1]
            drawn.update(space.own_factors(law.top))
            return law * value

        for _, value in space.expectation(program):
            top, bottom = value.top, value.bottom
            if top and (space.own_degree(top) != {1} or space.own_degree(bottom) != {0}):
                raise Fails(f"{claim.place!r}, {scenario}: not linear in the drafted token's entries: {value}")
        known = {each for form in space.classified for each in space.own_factors(form)}
        return self.own_forms(space) - drawn - known

    def own_forms(self, space: Space) -> set[str]:
        """The forms in the drafted token's entries that were compared. The last class's entries are 1 minus
        the others, so its forms have them too: those vanish where the class is the individual token alone.
        """
        out = set()
        for form in space.forms:
            polynomial = space.solver.polynomials[form]
            if space.own_degree(polynomial) == {1}:
                out.add(form)
            elif polynomial.compose(*space.whole_class, ctx=space.number.variables):
                raise NotFollowed(f"a comparison that is not linear in a token's entries: {form}")
        return out

    def told(self) -> list[str]:
        out = []
        for place in self.hypotheses.order:
            claim = self.hypotheses.claims[place]
            out.append(f"{self.mode}: {claim.function.name} {type(place).__name__}: row {claim.row}, rate {claim.rate}")
        return out
