"""Proves a verifier lossless at every size: the induction hypotheses are found, and each is proved on
symbols.

How the drafted token x of a node is treated. Either the hypothesis holds for every x, or x has the law that
the draft's kind says, and it holds on average: then it is proved on a vocabulary of y and as many classes
of tokens as there are patterns of signs, and what a drafted token adds is shown to be linear in its
entries, so that a class of tokens acts like one token that has their sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from draftproof.proofs_check.cells.cell import Cell, sides
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import ZERO, Symbol
from draftproof.proofs_check.every_size.claims import Claim, Weaken
from draftproof.proofs_check.every_size.contracts import must_be_modelled
from draftproof.proofs_check.every_size.hypotheses import Hypotheses
from draftproof.proofs_check.every_size.machine.classes import Classes, MoreClasses
from draftproof.proofs_check.every_size.machine.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import Space
from draftproof.proofs_check.every_size.machine.state import Decide, Refuted, Vacuous
from draftproof.proofs_check.every_size.machine.values import Named
from draftproof.theory.shared.reportable import Reportable
from draftproof.theory.verifier import Verifier

EVERY_SIZE = "every vocabulary and depth"

MODES = {
    "chain": "chain",
    "tree with replacement": "with replacement",
    "tree without replacement": "without replacement",
    "paths": "without replacement",
}
"""Kind of draft -> how the children of a node are drawn. Merged paths: the children of a node are drawn
without replacement, of a number that depends on what was drawn before. Drafts of any other kind: any
children.
"""


class Fails(Exception):
    """A claim does not hold for some numbers, or is not shown to."""


@dataclass(repr=False)
class Result(Reportable):
    """`verdict` is "proved", or "undecided" with the reason in `why`.

    `drafts` are the ways of drawing children that the proof covers, `claims` the induction hypotheses that
    were found, `contracts` what is assumed of functions that were not run; `seconds` are CPU seconds.
    """

    verifier: str
    verdict: str = "undecided"
    why: str = ""
    drafts: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    contracts: list[str] = field(default_factory=list)
    cells: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        why = self.why and f"\n{self.why}"
        return f"{self.verifier}, {EVERY_SIZE}: {self.verdict} ({self.seconds:.1f} s){why}"

    def to_dict(self) -> dict[str, Any]:
        made = {**vars(self), "scope": EVERY_SIZE, "counterexample": None, "assumed": self.contracts}
        del made["contracts"]
        return made


def prove_every_size(verifier: Verifier, seconds: float = 60.0) -> Result:
    """Proves that one iteration of the verifier is lossless for every vocabulary, every draft of the kinds
    that it is made for, and all p and q, zeros included. The verifier's own source is run; its text has to
    be the code. Nothing is ever refuted here: what is not proved is undecided.

    >>> from draftproof.theory.verifiers import named
    >>> proof = prove_every_size(named("token"))
    >>> proof.verdict, proof.claims
    ('proved', ["verify, the loop of line 3: stops with probability 1, then follows the target's row"])
    >>> prove_every_size(named("hsd-released")).verdict
    'undecided'

    """
    return _proved(verifier, seconds, modes_of(verifier))


def prove_accepted(verifier: Verifier, seconds: float = 60.0) -> Result:
    """Proves with which probability a drafted token of a chain is kept, for every vocabulary and depth, all p
    and q: token y after a prefix of rate a with min(1, a p(y) / q(y)). The result's claims say what a is:
    1 where tokens are judged from the first on, else the prefix's own probability of being kept, or its ratio
    of target to proposal.

    >>> from draftproof.theory.verifiers import named
    >>> prove_accepted(named("block")).claims
    ['verify, the loop of line 9: y is kept with mass min(w p(y), q(y)); w is the probability of its prefix']
    """
    return _proved(verifier, seconds, ["chain"], accepted=True)


def _proved(verifier: Verifier, seconds: float, modes: Sequence[str], accepted: bool = False) -> Result:
    # The result for these ways of drawing children: "proved" unless an error is raised.
    started, result, asked = thread_time(), Result(verifier.name), False
    try:
        must_be_modelled()
        for mode in modes:
            if mode == "chain" and (
                "without replacement" in result.drafts or ("with replacement" in result.drafts and not asked)
            ):
                continue  # a chain is a tree whose nodes have one child
            proof = Proof(verifier, mode, started + seconds)
            try:
                proof.prove()
                if accepted:
                    proof.accepted()
            finally:
                result.cells += proof.tokens.cells
            found = proof.hypotheses
            asked = asked or found.asked_draft
            result.drafts.append(mode)
            claims = [found.claims[place] for place in found.order[1:]]
            words = [each.kept() if accepted else str(each) for each in claims]
            result.claims = list(dict.fromkeys([*result.claims, *words]))
            result.contracts = list(dict.fromkeys([*result.contracts, *found.contracts]))
        result.verdict = "proved"
    except OutOfTime:
        result.why = f"out of time after {seconds:g} s"
    except (NotFollowed, Fails, Refuted, ZeroDivisionError) as error:
        result.why = str(error)
    result.seconds = round(thread_time() - started, 3)
    return result


def modes_of(verifier: Verifier) -> list[str]:
    """How the children of a node are drawn in the drafts that the verifier is made for, chains last."""
    modes = list(dict.fromkeys(MODES.get(label, "any") for label in verifier.drafts))
    return ["any"] if "any" in modes else sorted(modes, key=lambda mode: mode == "chain")


class Proof:
    """The proof for one way of drawing children: a search for induction hypotheses that hold."""

    def __init__(self, verifier: Verifier, mode: str, deadline: float):
        if verifier.carry is not None and mode != "chain":
            raise NotFollowed("a target that is left behind is known on chains only")
        self.verifier = verifier
        self.root = flow_of(verifier.verify)
        self.mode, self.deadline = mode, deadline
        self.tokens = Classes(deadline)
        self.hypotheses = Hypotheses({}, {}, verifier)
        self.holding = 0

    def prove(self) -> None:
        """Tries the rows and rates that the claims can be about, until every claim holds; raises what went
        wrong in the attempt that came furthest.
        """
        chosen: dict[Any, int] = {}
        furthest: tuple[int, Exception] | None = None
        while True:
            self.holding = 0
            try:
                self.attempt(chosen)
                return
            except (Fails, Refuted, NotFollowed, ZeroDivisionError) as error:
                if furthest is None or self.holding > furthest[0]:
                    furthest = self.holding, error
            if thread_time() > self.deadline:
                raise OutOfTime
            for place in reversed(self.hypotheses.order[1:]):
                chosen[place] = chosen.get(place, 0) + 1
                if chosen[place] < len(self.hypotheses.claims[place].options()):
                    break
                chosen[place] = 0
            else:
                raise furthest[1]

    def attempt(self, chosen: dict[Any, int]) -> None:
        """Proves the claims with the rows and rates chosen, knowing less of the variables until it is
        enough.
        """
        facts: dict[Any, dict[str, int]] = {}
        while True:
            self.hypotheses = hypotheses = Hypotheses(chosen, facts, self.verifier)
            self.tokens.unknowns = {}
            names = [Named(name) for name in ("oracle", "draft", "target")]
            if len(self.root.parameters) != len(names):
                raise NotFollowed(f"{self.root.name} does not take an oracle, a draft and a target")
            hypotheses.assume(
                self.root, self.root, dict(zip(self.root.parameters, names, strict=True)), frozenset()
            )
            try:
                for place in hypotheses.order:  # which grows as places are reached
                    hypotheses.current = hypotheses.claims[place]
                    self.scenarios(hypotheses.current, {})
                return
            except Weaken:
                continue
            except MoreClasses as more:
                self.tokens.classes = more.args[0]

    def accepted(self) -> None:
        """Proves what is kept of a drafted token, once the claims hold."""
        self.hypotheses.accepted = True
        for place in self.hypotheses.order[1:]:
            self.hypotheses.current = self.hypotheses.claims[place]
            try:
                self.scenarios(self.hypotheses.current, {})
            except MoreClasses as more:
                raise NotFollowed(f"{more} classes of tokens are needed") from None
            except Weaken as weaken:
                raise Fails(str(weaken)) from None

    def scenarios(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim in every scenario of answers to what depends on the draft."""
        try:
            self.obligation(claim, scenario)
            self.holding += 1
        except Decide as decide:
            question, answers = decide.args
            for answer in answers:
                self.scenarios(claim, {**scenario, question: answer})

    def obligation(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim in one scenario; a drafted token of a known law is averaged over."""
        self.hypotheses.passes = False
        self.tokens.on_all(lambda space: self.exactly(space, claim, scenario), scenario.get("token") == "z")
        averaged = scenario.get("token") == "all"
        single = {**scenario, "token": "z"} if averaged else scenario
        if averaged or self.hypotheses.passes:
            self.tokens.on_all(lambda space: self.linear(space, claim, single), True)

    # What is checked of a claim.

    def parts(
        self, space: Space, scenario: dict[str, Any], value: Callable[[Run], Symbol]
    ) -> list[tuple[Cell, Symbol]]:
        """The parts of the space, each with the mean of a run's value, 0 of one that cannot occur."""

        def program(oracle: Any) -> Symbol:
            try:
                return value(Run(space, oracle, scenario, self.mode, self.hypotheses))
            except Vacuous:
                return space.number(0)

        return space.expectation(program)

    def exactly(self, space: Space, claim: Claim, scenario: dict[str, Any]) -> set[str]:
        """The mass of y is what the claim says."""

        def missed(run: Run) -> Symbol:
            want = self.hypotheses.wanted(run, claim)
            return self.hypotheses.begin(run, claim) - want

        for cell, value in self.parts(space, scenario, missed):
            if not cell.agree(value, space.number(0)):
                _, differs = sides(cell, value.top, ZERO)
                if differs is not None and not space.surely_empty(differs):
                    raise Fails(f"{claim}: a token's mass is not shown to be what the claim says")
        return set()

    def linear(self, space: Space, claim: Claim, scenario: dict[str, Any]) -> set[str]:
        """Checks that a drafted token's contribution is linear in its entries; then a class of tokens can be
        replaced by one token with their sums.
        """
        drawn: set[str] = set()  # a drafted token's entry of its law is above zero

        def added(run: Run) -> Symbol:
            value = self.hypotheses.begin(run, claim)
            if run.drawn_from is None:
                return space.number(0)
            law = run.worked_out(run.drawn_from)[1]
            drawn.update(space.own_factors(law.top))
            return law * value

        for _, value in self.parts(space, scenario, added):
            if not space.linear(value):
                raise Fails(f"{claim}: what a drafted token adds is not linear in its entries")
        known = {each for form in space.classified for each in space.own_factors(form)}
        return space.own_forms() - drawn - known
