"""Proves a verifier lossless for every vocabulary, every draft of its kinds, and all p and q, from its own code."""
import os

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import comb
from time import thread_time
from typing import Any

from draftproof.proofs_check.cells.cell import sides
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import ZERO, Symbol
from draftproof.proofs_check.every_size.claims import Claim, Hypotheses, Weaken
from draftproof.proofs_check.every_size.flow import Function, Loop, NotFollowed, flow_of
from draftproof.proofs_check.every_size.run import Decide, Refuted, Run, Vacuous
from draftproof.proofs_check.every_size.space import Grow, Space
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
        case = scenario.get("token")
        if case == "all":
            self.averaged(claim, scenario)
        else:
            self.exactly(claim, scenario, 2 + self.classes, 1)

    def exactly(self, claim: Claim, scenario: dict[str, Any], tokens: int, individual: int | None) -> Space:
        def program(oracle: Any) -> Symbol:
            run = Run(space, oracle, scenario, self.mode, self.hypotheses)
            want = self.hypotheses.wanted(run, claim)
            try:
                return self.hypotheses.begin(run, claim) - want
            except Vacuous:
                return space.number(0)

        while True:
            space = Space(self.unknowns, tokens, individual, self.deadline - thread_time())
            try:
                parts = space.expectation(program)
                break
            except Grow as grow:
                self.unknowns[grow.name] = grow.kind
        for cell, value in parts:
            if not cell.agree(value, space.number(0)):
                _, differs = sides(cell, value.top, ZERO)
                if differs is not None:
                    raise Fails(f"{claim.place!r}, {scenario}: mass differs by {value}")
        self.enough(space, set())
        return space

    def averaged(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim on average over the drafted token: on classes, which is the whole truth if a class acts as
        one token: what a token of a class adds must be linear in its entries.
        """
        self.exactly(claim, scenario, 1 + self.classes, None)
        split = {**scenario, "token": "z"}
        drawn: set[str] = set()  # a drafted token's entry of its law is above zero

        def program(oracle: Any) -> Symbol:
            run = Run(space, oracle, split, self.mode, self.hypotheses)
            try:
                value = self.hypotheses.begin(run, claim)
            except Vacuous:
                return space.number(0)
            law = run.worked_out(run.drawn_from)[1]
            drawn.update(space.own_factors(law.top))
            return law * value

        while True:
            space = Space(self.unknowns, 2 + self.classes, 1, self.deadline - thread_time())
            try:
                parts = space.expectation(program)
                break
            except Grow as grow:
                self.unknowns[grow.name] = grow.kind
        for cell, value in parts:
            top, bottom = value.top, value.bottom
            if top and (space.own_degree(top) != {1} or space.own_degree(bottom) != {0}):
                raise Fails(f"{claim.place!r}, {scenario}: not linear in the drafted token's entries: {value}")
        self.enough(space, self.own_forms(space) - drawn)

    def enough(self, space: Space, forms: set[str]) -> None:
        """Whether the classes are as many as there are patterns of signs of the forms that were compared."""
        forms = forms | {form for form, answers in space.row_forms.items() if len(answers) > 1}
        polynomials = {form: space.solver.polynomials[form] for form in sorted(forms)}
        if any(space.own_degree(polynomial) != {1} for polynomial in polynomials.values()):
            raise NotFollowed("a comparison that is not linear in a token's entries")
        rows = {at for polynomial in polynomials.values() for at in space.own if polynomial.degrees()[at]}
        real = [form for form, polynomial in polynomials.items() if sum(1 for _ in polynomial.terms()) > 1]
        needed = 1 + len(real) + len(space.explicit & set(real))
        if len(rows) > 2 and len(real) > 1:
            raise NotFollowed(f"{len(real)} comparisons of {len(rows)} rows")
        if needed > self.classes:
            raise MoreClasses(needed)

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
