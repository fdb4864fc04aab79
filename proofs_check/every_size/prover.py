"""Proves a verifier lossless at every size: by a theorem in Rocq about its code, or by induction hypotheses,
each proved on symbols.

A drafted token x has the law that the draft's kind says, and a hypothesis holds on average over it: it is
proved on a vocabulary of y and two classes of tokens, which one sign tells apart, and what a drafted token
adds is shown to be linear in its entries, so that a class of tokens acts like one token that has their sums.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from draftproof.proofs_check.cells.cell import Cell, sides
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import ZERO, Symbol
from draftproof.proofs_check.every_size.claims import Claim
from draftproof.proofs_check.every_size.contracts import must_be_modelled, theorem_of
from draftproof.proofs_check.every_size.hypotheses import Hypotheses
from draftproof.proofs_check.every_size.machine.classes import Classes
from draftproof.proofs_check.every_size.machine.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import Space
from draftproof.proofs_check.every_size.machine.state import Refuted, Vacuous
from draftproof.proofs_check.every_size.machine.values import Named
from draftproof.theory.shared.reportable import Reportable
from draftproof.theory.verifier import CHAIN, Verifier

EVERY_SIZE = "every vocabulary and depth"


class Fails(Exception):
    """A claim does not hold for some numbers, or is not shown to."""


@dataclass(repr=False)
class Result(Reportable):
    """`verdict` is "proved", or "undecided" with the reason in `why`.

    `drafts` are the ways of drawing children that the proof covers, `claims` the induction hypotheses that
    were found, `assumed` what is assumed of functions that were not run; or `theorem` is the one that Rocq
    proved about this code, which then is not run. `seconds` are CPU seconds.
    """

    verifier: str
    verdict: str = "undecided"
    why: str = ""
    drafts: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    theorem: str = ""
    cells: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        why = self.why and f"\n{self.why}"
        return f"{self.verifier}, {EVERY_SIZE}: {self.verdict} ({self.seconds:.1f} s){why}"

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "scope": EVERY_SIZE, "counterexample": None}


def prove_every_size(verifier: Verifier, seconds: float = 60.0) -> Result:
    """Proves that one iteration of the verifier is lossless for every vocabulary, every draft of the kinds
    that it is made for, and all p and q, zeros included: by a theorem in Rocq about this very code, or by
    running its source, whose text has to be the code. Nothing is ever refuted here: what is not proved is
    undecided.

    >>> from draftproof.theory.verifiers import named
    >>> prove_every_size(named("token")).theorem
    'token_code_lossless'
    >>> proof = prove_every_size(named("optimal"))
    >>> proof.verdict, proof.claims
    ('proved', ["descend, the loop of line 7: stops with probability 1, then follows the target's row"])
    >>> prove_every_size(named("hsd-released")).verdict
    'undecided'

    """
    started, result = thread_time(), Result(verifier.name)
    try:
        must_be_modelled()
        result.theorem = theorem_of(verifier)
        if not result.theorem:
            proof = Proof(verifier, started + seconds)
            try:
                proof.prove()
            finally:
                result.cells = proof.tokens.cells
            found = proof.hypotheses
            result.drafts = [proof.mode]
            result.claims = [str(found.claims[place]) for place in found.order[1:]]
            result.assumed = found.contracts
        result.verdict = "proved"
    except OutOfTime:
        result.why = f"out of time after {seconds:g} s"
    except (NotFollowed, Fails, Refuted, ZeroDivisionError) as error:
        result.why = str(error)
    except Exception as error:
        result.why = f"the prover failed: {type(error).__name__}: {error}"
    result.seconds = round(thread_time() - started, 3)
    return result


class Proof:
    """The proof of one verifier: induction hypotheses, found as they are met. `mode` is "chain" where it is
    made for chains alone, else "any": any children.
    """

    def __init__(self, verifier: Verifier, deadline: float):
        if verifier.carry is not None:
            raise NotFollowed("a target that is left behind is not followed at every size")
        self.verifier = verifier
        self.root = flow_of(verifier.verify)
        self.mode = "chain" if verifier.drafts == CHAIN else "any"
        self.deadline = deadline
        self.tokens = Classes(deadline)
        self.hypotheses = Hypotheses(verifier)

    def prove(self) -> None:
        """Proves every claim."""
        hypotheses, names = self.hypotheses, [Named(name) for name in ("oracle", "draft", "target")]
        if len(self.root.parameters) != len(names):
            raise NotFollowed(f"{self.root.name} does not take an oracle, a draft and a target")
        hypotheses.assume(
            self.root, self.root, dict(zip(self.root.parameters, names, strict=True)), frozenset()
        )
        for place in hypotheses.order:  # which grows as places are reached
            hypotheses.current = hypotheses.claims[place]
            for inner in (False, True):
                self.obligation(hypotheses.current, inner)

    def obligation(self, claim: Claim, inner: bool) -> None:
        """The claim about nodes with children or without; a drafted token of a known law is averaged over."""
        self.hypotheses.averaged = False
        self.tokens.on_all(lambda space: self.exactly(space, claim, inner), False)
        if self.hypotheses.averaged:
            self.tokens.on_all(lambda space: self.linear(space, claim, inner), True)

    # What is checked of a claim.

    def parts(self, space: Space, inner: bool, value: Callable[[Run], Symbol]) -> list[tuple[Cell, Symbol]]:
        """The parts of the space, each with the mean of a run's value, 0 of one that cannot occur."""

        def program(oracle: Any) -> Symbol:
            try:
                return value(Run(space, oracle, inner, self.mode, self.hypotheses))
            except Vacuous:
                return space.number(0)

        return space.expectation(program)

    def exactly(self, space: Space, claim: Claim, inner: bool) -> set[str]:
        """The mass of y is what the claim says."""

        def missed(run: Run) -> Symbol:
            env = {name: claim.start(run, name) for name in claim.env}
            return self.hypotheses.begin(run, claim) - claim.rate_in(run, env) * run.target_row[0]

        for cell, value in self.parts(space, inner, missed):
            if not cell.agree(value, space.number(0)):
                _, differs = sides(cell, value.top, ZERO)
                if differs is not None:
                    raise Fails(f"{claim}: a token's mass is not shown to be what the claim says")
        return set()

    def linear(self, space: Space, claim: Claim, inner: bool) -> set[str]:
        """Checks that a drafted token's contribution is linear in its entries; then a class of tokens can be
        replaced by one token with their sums.
        """
        drawn: set[str] = set()  # a drafted token's entry of its law is above zero

        def added(run: Run) -> Symbol:
            value = self.hypotheses.begin(run, claim)
            if run.drawn_from is None:
                return space.number(0)
            law = run.drawn_from[space.individual or 0]
            drawn.update(space.own_factors(law.top))
            return law * value

        for _, value in self.parts(space, inner, added):
            if not space.linear(value):
                raise Fails(f"{claim}: what a drafted token adds is not linear in its entries")
        known = {each for form in space.classified for each in space.own_factors(form)}
        return space.own_forms() - drawn - known
