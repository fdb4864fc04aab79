"""Proves a verifier lossless at every size: the induction hypotheses are found, and each is proved on
symbols.

How the drafted token x of a node is treated. Either the hypothesis holds for every x, or x has the law that
the draft's kind says, and it holds on average: then it is proved on a vocabulary of y and as many classes
of tokens as there are patterns of signs, and what a drafted token adds is shown to be linear in its
entries, so that a class of tokens acts like one token that has their sums.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from time import thread_time
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.proofs_check.cells.cell import sides
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO, Symbol, sign
from draftproof.proofs_check.every_size.claims import Claim, Weaken
from draftproof.proofs_check.every_size.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.hypotheses import Hypotheses
from draftproof.proofs_check.every_size.model import must_be_modelled
from draftproof.proofs_check.every_size.run import Run
from draftproof.proofs_check.every_size.space import Assume, Classify, Grow, Space, Terms, terms_of
from draftproof.proofs_check.every_size.state import Decide, Refuted, Vacuous
from draftproof.proofs_check.every_size.values import Named
from draftproof.theory.verifier import Verifier

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

MOST_CLASSES = 4
BELOW, ABOVE = NEGATIVE | ZERO, ZERO | POSITIVE
Check: TypeAlias = Callable[[Space], set[str]]


class Fails(Exception):
    """A claim does not hold for some numbers, or is not shown to."""


class MoreClasses(Exception):
    """More patterns of signs are possible than there are classes of tokens."""

    def __init__(self, needed: int):
        super().__init__(f"{needed} classes of tokens are needed")
        if needed > MOST_CLASSES:
            raise NotFollowed(f"{needed} classes of tokens are needed")
        self.needed = needed


@dataclass
class Result:
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


@dataclass(frozen=True)
class Form:
    """A form in a token's entries that was compared with 0, with the sign that it has on y, on the
    individual token if there is one, and on every class; or an assumption, which tells no tokens apart.
    """

    signs: list[tuple[Terms, int]]
    tells_apart: bool = True


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
    with proof_of(verifier.name, seconds) as (result, deadline):
        must_be_modelled()
        asked = False
        for mode in modes_of(verifier):
            covered = "without replacement" in result.drafts or (
                "with replacement" in result.drafts and not asked
            )
            if mode == "chain" and covered:
                continue  # a chain is a tree whose nodes have one child
            proof = Proof(verifier, mode, deadline)
            try:
                proof.prove()
            finally:
                result.cells += proof.cells
            asked = asked or proof.hypotheses.asked_draft
            result.drafts.append(mode)
            result.claims += [each for each in proof.hypotheses.in_words() if each not in result.claims]
            result.contracts += [each for each in proof.hypotheses.contracts if each not in result.contracts]
    return result


def prove_accepted(verifier: Verifier, seconds: float = 60.0) -> Result:
    """Proves with which probability a drafted token of a chain is kept, for every vocabulary and depth, all p
    and q: token y after a prefix of rate a with min(1, a p(y) / q(y)). The result's claims say what a is:
    1 where tokens are judged from the first on, else the prefix's own probability of being kept, or its ratio
    of target to proposal.

    >>> from draftproof.theory.verifiers import named
    >>> prove_accepted(named("block")).claims
    ['verify, the loop of line 9: y is kept with mass min(w p(y), q(y)); w is the probability of its prefix']
    """
    with proof_of(verifier.name, seconds) as (result, deadline):
        must_be_modelled()
        proof = Proof(verifier, "chain", deadline)
        proof.prove()
        proof.accepted()
        result.cells, result.drafts, result.contracts = proof.cells, ["chain"], proof.hypotheses.contracts
        result.claims = [proof.hypotheses.claims[place].kept() for place in proof.hypotheses.order[1:]]
    return result


@contextmanager
def proof_of(name: str, seconds: float) -> Iterator[tuple[Result, float]]:
    """A result to fill, and the deadline: "proved" unless what is done with it raises that it is not."""
    started = thread_time()
    result = Result(name)
    try:
        yield result, started + seconds
        result.verdict = "proved"
    except OutOfTime:
        result.why = f"out of time after {seconds:g} s"
    except (NotFollowed, Fails, Refuted, ZeroDivisionError) as error:
        result.why = str(error)
    result.seconds = round(thread_time() - started, 3)


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
        self.unknowns: dict[str, str] = {}
        self.hypotheses = Hypotheses({}, {}, verifier)
        self.classes = 2
        self.cells = 0
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
            self.unknowns = {}
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
                self.classes = more.needed

    def accepted(self) -> None:
        """Proves what is kept of a drafted token, once the claims hold."""
        self.hypotheses.accepted = True
        for place in self.hypotheses.order[1:]:
            self.hypotheses.current = self.hypotheses.claims[place]
            try:
                self.scenarios(self.hypotheses.current, {})
            except MoreClasses as more:
                raise NotFollowed(str(more)) from None
            except Weaken as weaken:
                raise Fails(str(weaken)) from None

    def scenarios(self, claim: Claim, scenario: dict[str, Any]) -> None:
        """The claim in every scenario of answers to what depends on the draft."""
        try:
            self.obligation(claim, scenario)
            self.holding += 1
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

    # Classes of tokens.

    def space(self, individual: bool, forms: Sequence[Form]) -> Space:
        signs = [each for form in forms for each in form.signs]
        tokens = 1 + individual + self.classes
        return Space(self.unknowns, tokens, 1 if individual else None, self.deadline - thread_time(), signs)

    def on_all_classes(self, check: Check, individual: bool, forms: Sequence[Form] = ()) -> None:
        """The check in every way that the signs of the compared forms can tell tokens apart."""
        while True:
            space = self.space(individual, forms)
            if forms and not space.possible:
                return
            try:
                loose = check(space)
                self.cells += space.enumeration.cells
                break
            except Grow as grow:
                self.unknowns[grow.name] = grow.kind
            except Assume as new:
                forms = [*forms, Form([(new.terms, new.signs)], tells_apart=False)]
            except Classify as new:
                self.told_apart(check, individual, forms, new.forms)
                return
        real = [form for form in loose if len(terms_of(space.solver.polynomials[form])) > 1]
        needed = 1 + sum(form.tells_apart for form in forms) + len(real)
        if needed > self.classes:
            raise MoreClasses(needed)

    def told_apart(self, check: Check, individual: bool, forms: Sequence[Form], terms: list[Terms]) -> None:
        """The check for the signs that one more form can have, on y, the individual token and every class.

        Where classes have had the same signs so far and the form can have either sign on them, they are to
        differ in the end: as many forms are expected as there are classes, less one. The order of such
        classes does not matter, but for the class of the individual token, which is the last.
        """
        so_far = self.space(individual, forms)

        def possible(form: Terms, wanted: int) -> bool:
            if not form.keys() - {()}:
                return bool(sign(form.get((), fmpq(0))) & wanted)
            if so_far.excludes(form, wanted):
                return False
            return self.space(individual, [*forms, Form([(form, wanted)])]).possible

        can = [
            tuple(
                closed for strict, closed in ((NEGATIVE, BELOW), (POSITIVE, ABOVE)) if possible(form, strict)
            )
            or (BELOW,)
            for form in terms
        ]
        if all(len(options) == 1 for options in can):  # the form tells no more tokens apart
            signs = [(form, options[0]) for form, options in zip(terms, can, strict=True)]
            self.on_all_classes(check, individual, [*forms, Form(signs, tells_apart=False)])
            return
        for of_classes in self.patterns(forms, can, 1 + individual):
            of_own = [NEGATIVE if of_classes[-1] == BELOW else ABOVE] * individual
            for of_y in can[0]:
                all_signs = [NEGATIVE if of_y == BELOW else ABOVE, *of_own, *of_classes]
                self.on_all_classes(
                    check, individual, [*forms, Form(list(zip(terms, all_signs, strict=True)))]
                )

    def patterns(
        self, forms: Sequence[Form], can: Sequence[tuple[int, ...]], first: int
    ) -> Iterator[tuple[int, ...]]:
        """The signs of one more form on the classes, which start at the entry `first` of what is possible."""
        distinguishing = [form for form in forms if form.tells_apart]
        before = [tuple(form.signs[first + i][1] for form in distinguishing) for i in range(self.classes)]
        most = 2 ** max(0, self.classes - 2 - len(distinguishing))
        free = range(self.classes - (first - 1))
        for signs in product(*can[first:]):
            alike = Counter(
                (*old, new)
                for old, new, options in zip(before, signs, can[first:], strict=True)
                if len(options) == 2
            )
            in_order = all(
                signs[i] <= signs[j] or can[first + i] != can[first + j]
                for i in free
                for j in free
                if i < j and before[i] == before[j]
            )
            if in_order and max(alike.values(), default=0) <= most:
                yield signs

    # What is checked of a claim.

    def exactly(self, space: Space, claim: Claim, scenario: dict[str, Any]) -> set[str]:
        """The mass of y is what the claim says."""

        def program(oracle: Any) -> Symbol:
            run = Run(space, oracle, scenario, self.mode, self.hypotheses)
            try:
                want = self.hypotheses.wanted(run, claim)
                return self.hypotheses.begin(run, claim) - want
            except Vacuous:
                return space.number(0)

        for cell, value in space.expectation(program):
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
            if not space.linear(value):
                raise Fails(f"{claim}: what a drafted token adds is not linear in its entries")
        known = {each for form in space.classified for each in space.own_factors(form)}
        return self.own_forms(space) - drawn - known

    def own_forms(self, space: Space) -> set[str]:
        """The forms in the drafted token's entries that were compared. The last class's entries are 1 minus
        the others, so that its forms have them too: those vanish where the class is the individual token
        alone.
        """
        out = set()
        for form in space.forms:
            polynomial = space.solver.polynomials[form]
            if space.own_degree(polynomial) == {1}:
                out.add(form)
            elif polynomial.compose(*space.whole_class, ctx=space.number.variables):
                raise NotFollowed(f"a comparison that is not linear in a token's entries: {form}")
        return out
