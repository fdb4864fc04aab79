"""Proofs of one size: lossless for all real p and q, or rational ones on which it is not.

One iteration is lossless exactly when, for every word of `depth` tokens, the mass of all that is
emitted and completed through that word is the product formula, and the token after a full draft is
drawn from the target's own row. What is emitted is completed by the target, or, for a verifier that
keeps state, by the target that it leaves behind: then later iterations, lossless for whatever target
they are given, complete it likewise. The words are proved one by one.

Against a declared law the product formula is that of its rows, which complete what is emitted too; the token
after a full draft still comes from the target's own row.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from time import thread_time
from typing import Any, Literal

from draftproof.proofs_check.cells.cell import Cell, sides
from draftproof.proofs_check.cells.domain import Domain, draw, rational_points, why_none
from draftproof.proofs_check.cells.enumeration import Program, must_have_mass_one
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import ZERO, LeafRead, Symbol
from draftproof.proofs_check.cells.tree import leaves
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.enumerate import CRASHES, Invalid
from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.against import laws
from draftproof.simulators.laws.witness import shrink
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.reportable import Reportable, spelled
from draftproof.theory.table import Rows
from draftproof.theory.targets import ITSELF
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Verifier

Answer = Literal["proved", "refuted", "undecided"]

RANDOM = 200  # random instances that are tried where sign cells give no answer


@dataclass(repr=False)
class Proof(Reportable):
    """The verdict, and what it took.

    `left` are the words whose mass was not proved. `cells` counts the runs of the verifier that came to an
    end, one for each way of drawing in each cell of signs; `parameters` are free probabilities; `seconds` are
    CPU seconds. `counterexample` is confirmed by exact enumeration; `why` then says where a coin or a row is
    invalid or the verifier raises an exception, if that is what is wrong. `not_shown` are flaws that no
    verdict at this size can show. `against`: the declared law, if any. `domain`: where all this was found.
    """

    verifier: str
    scope: str
    verdict: Answer
    cells: int = 0
    parameters: int = 0
    seconds: float = 0.0
    left: list[Prefix] = field(default_factory=list)
    counterexample: Instance | None = None
    why: str = ""
    not_shown: str = ""
    against: str = ""
    domain: Domain | None = None

    def __str__(self) -> str:
        against = f" against {self.against}" if self.against else ""
        took = f"{self.cells:,} cells, {self.parameters} parameters, {self.seconds:.1f} s"
        return f"{self.verifier}{against}, {self.scope}: {self.verdict} ({took})"

    def to_dict(self) -> dict[str, Any]:
        """As --json has it, the counterexample as the document of an instance file."""
        shown = self.counterexample and self.counterexample.to_dict()
        made = vars(self) | {"counterexample": shown, "left": list(map(spelled, self.left))}
        return {name: value for name, value in made.items() if name != "domain"}


def prove(
    verifier: Verifier, scheme: Scheme, vocab: int, seconds: float = 60.0, law: Declared = ITSELF
) -> Proof:
    """Proves or refutes that one iteration is lossless, for all real p and q, zeros included.

    A verifier that computes with more than the four operations and comparisons is searched for a
    counterexample instead. With a declared `law` the verifier is to emit that one. Raises BadInput for a
    vocabulary below 2, and for a declared target without a law.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> prove(named("token"), Chain(1), vocab=2).verdict
    'proved'
    >>> refuted = prove(named("hsd-released"), Chain(2), vocab=2)
    >>> refuted.verdict, judge(refuted.counterexample, named("hsd-released")).lossless
    ('refuted', False)
    >>> from draftproof.theory.targets import declared
    >>> mixture = declared("interpolation:1/4")
    >>> prove(mixture.rule, Chain(1), vocab=2, law=mixture).verdict
    'proved'
    """
    if vocab < 2:
        raise BadInput(f"a proof needs a vocabulary of at least 2, not {vocab}")
    if law.row is None and law != ITSELF:
        raise BadInput(f"{law} declares no law that could be proved; `check --against` measures it")
    started = thread_time()
    shape = f" {json.dumps(scheme.shape)}" if hasattr(scheme, "shape") else ""  # type: ignore[attr-defined]
    on = "" if scheme.kind == "chain" else f"{scheme.label}{shape}, "
    proof = Proof(verifier.name, f"{on}vocab={vocab} depth={scheme.depth}", "undecided")
    proof.not_shown = not_shown(scheme.depth, vocab)
    proof.against = "" if law == ITSELF else str(law)
    statement = Statement(verifier, scheme, law)
    try:
        for leaves in (False, True):
            proof.domain = Domain(vocab, scheme.depth, seconds, leaves)
            with suppress(LeafRead):
                _prove_words(proof, proof.domain, statement)
                break
    except TypeError as error:
        proof.why = f"{verifier.name} cannot be run on rational functions ({error})"
        _search(proof, statement, vocab)
    except BadInput:
        raise
    except Exception as error:  # which refutes nothing
        proof.why = f"the prover failed: {type(error).__name__}: {error}"
    proof.seconds = round(thread_time() - started, 3)
    return proof


@dataclass(frozen=True)
class Statement:
    """That a verifier emits a law, the target's or a declared one, on the drafts of a scheme."""

    verifier: Verifier
    scheme: Scheme
    law: Declared

    def fails(self, instance: Instance) -> bool:
        """Whether another law is emitted on an instance, by exact enumeration."""
        if self.law == ITSELF:
            return not judge(instance, self.verifier, 1).lossless
        try:
            _, got, want = laws(instance, self.verifier, self.law)
        except Invalid:
            return True
        return got != want


def aim(domain: Domain, law: Declared) -> Rows:
    """The rows of the law; those that are declared are worked out anew in every cell."""
    return domain.target if law.row is None else law.rows(domain.target, domain.proposal, domain.depth)


def _prove_words(proof: Proof, domain: Domain, statement: Statement) -> None:
    words = list(product(range(domain.vocab), repeat=domain.depth + bool(domain.leaves)))
    proof.parameters = domain.parameters
    proof.left = list(words)
    for word in words:
        failing: list[tuple[Cell, str]] = []
        try:
            for cell, fault in _failing(domain, statement, word):
                failing.append((cell, fault))
                for point in rational_points(cell):
                    if statement.fails(instance := Instance(*domain.at(point), statement.scheme)):
                        _refute(proof, instance, statement)
                        return
        except OutOfTime:
            proof.why = f"out of time with {len(proof.left)} of {len(words)} words left"
            return
        finally:
            proof.cells = domain.enumeration.cells
        if failing:
            cell, fault = failing[0]
            proof.why = f"{fault} in a cell; of rational points in it {why_none(cell)}"
            _search(proof, statement, domain.vocab)
            return
        proof.left.remove(word)
    proof.verdict = "proved"


def through(
    domain: Domain, verifier: Verifier, scheme: Scheme, word: Prefix, law: Declared = ITSELF
) -> Program:
    """The program whose expectation is the mass through `word` of one iteration, completed."""

    def program(oracle: Oracle) -> Symbol:
        draft = draw(scheme, oracle, domain.proposal)
        try:
            node, row = verifier.verify(oracle, draft, domain.target)
        except BadInput:
            raise
        except CRASHES as error:
            raise Invalid(f"{type(error).__name__}: {error}") from error
        at = len(node.prefix)
        if node.prefix != word[:at]:
            return domain.number(0)
        if at == domain.depth and not domain.leaves:
            if row is not domain.target[node.prefix]:
                raise LeafRead
            return domain.number(1)
        if row is not domain.target[node.prefix]:
            must_be_drawable(row, word[at])
        following = aim(domain, law)
        if verifier.carry is not None:
            following = verifier.carry(domain.target, domain.proposal, draft, node)
        mass = domain.number(1) * row[word[at]]
        for i in range(at + 1, len(word)):
            if following is not domain.target and mass > 0:
                must_be_drawable(following[word[:i]], word[i])
            mass = mass * following[word[:i]][word[i]]
        return mass

    return program


def must_be_drawable(row: Row, token: int) -> None:
    """Raises Invalid unless the row has mass 1 and none of it is negative at the token of the present word:
    other words look at the other entries.
    """
    must_have_mass_one(row)
    if row[token] < 0:
        raise Invalid("a row has a negative entry")


def _failing(domain: Domain, statement: Statement, word: Prefix) -> Iterator[tuple[Cell, str]]:
    # The cells in which the mass through the word is not shown to be the product formula, and why. Rows of a
    # declared law may branch on p and q, so that their product is enumerated together with the mass.
    emitted = through(domain, statement.verifier, statement.scheme, word, statement.law)

    def missed(oracle: Oracle) -> Symbol:
        return emitted(oracle) - domain.product(word, aim(domain, statement.law))

    own = statement.law == ITSELF
    program, want = (emitted, domain.product(word, domain.target)) if own else (missed, domain.number(0))
    try:
        tree = domain.enumeration.expectation(program, domain.whole)
    except Invalid as error:
        yield domain.enumeration.cell, str(error)
        return
    for cell, mass in leaves(domain.whole, tree):
        if not cell.agree(mass, want):
            _, differs = sides(cell, mass.top * want.bottom - want.top * mass.bottom, ZERO)
            if differs is not None:
                yield differs, "the law differs"


def _search(proof: Proof, statement: Statement, vocab: int) -> None:
    # Refutes the statement by an exact instance if there is one among scenarios and random instances.
    instances = [*Scenarios(statement.scheme, vocab), *Randoms(statement.scheme, vocab, RANDOM)]
    found = next((instance for instance in instances if statement.fails(instance)), None)
    if found is None:
        proof.why += f"; no counterexample in {len(instances)} exact instances"
    else:
        _refute(proof, found, statement)


def _refute(proof: Proof, instance: Instance, statement: Statement) -> None:
    # The counterexample is shrunk to simpler rows over the same vocabulary.
    vocab = instance.vocab
    small = shrink(instance, lambda small: small.vocab == vocab and statement.fails(small))
    proof.verdict = "refuted"
    proof.counterexample, proof.why = small, judge(small, statement.verifier, 1).invalid
