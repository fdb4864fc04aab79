"""Proofs of one size: lossless for all real p and q, or rational ones on which it is not.

One iteration is lossless exactly when, for every word of `depth` tokens, the mass of all that is
emitted and completed by the target through that word is the product formula, and the token after
a full draft is drawn from the target's own row. The words are proved one by one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Literal

from flint import fmpq

from proofs_check.cell import Cell
from proofs_check.deferred import draw
from proofs_check.domain import Domain
from proofs_check.signs import OutOfTime, Program
from proofs_check.signset import ZERO
from proofs_check.solver import Solver
from proofs_check.symbol import LeafRead, Symbol
from proofs_check.tree import leaves
from simulators.verdict import judge
from simulators.witness import shrink
from theory.drafts import Scheme
from theory.errors import BadInput
from theory.instance import Instance
from theory.oracle import Oracle
from theory.rows import Prefix
from theory.verifier import Verifier

Answer = Literal["proved", "refuted", "undecided"]


@dataclass
class Proof:
    """What was found, and what it took.

    `done` and `left` are the words whose mass was proved, and the others. `cells` counts the runs
    of the verifier that came to an end, one for each way of drawing in each cell of signs;
    `parameters` are free probabilities. `counterexample` is confirmed by exact enumeration.
    """

    verifier: str
    scope: str
    verdict: Answer
    cells: int = 0
    parameters: int = 0
    seconds: float = 0.0
    done: list[Prefix] = field(default_factory=list)
    left: list[Prefix] = field(default_factory=list)
    counterexample: Instance | None = None
    why: str = ""


def prove(
    verifier: Verifier, scheme: Scheme, vocab: int, seconds: float = 60.0, done: Iterable[Prefix] = ()
) -> Proof:
    """Proves or refutes that one iteration is lossless, for all real p and q, zeros included.

    Words in `done` were proved before and are not proved again. Raises BadInput for a verifier
    that keeps state, whose single iteration is not meant to be lossless, and for one that computes
    with more than the four operations and comparisons.

    >>> from theory.drafts.chain import Chain
    >>> from theory.verifiers import named
    >>> prove(named("token"), Chain(1), vocab=2).verdict
    'proved'
    >>> refuted = prove(named("hsd-released"), Chain(2), vocab=2)
    >>> refuted.verdict, judge(refuted.counterexample, named("hsd-released")).lossless
    ('refuted', False)
    """
    if verifier.carry is not None:
        raise BadInput(f"{verifier.name} keeps state between iterations; a proof of one size covers one")
    if vocab < 2:
        raise BadInput(f"a proof needs a vocabulary of at least 2, not {vocab}")
    started, solver = monotonic(), Solver()
    proof = Proof(verifier.name, f"vocab={vocab} {_spelled(scheme)}", "undecided")
    known = set(done)
    try:
        try:
            _words(proof, Domain(vocab, scheme.depth, solver, seconds), verifier, scheme, known)
        except LeafRead:
            _words(proof, Domain(vocab, scheme.depth, solver, seconds, leaves=True), verifier, scheme, set())
    except TypeError as error:
        raise BadInput(f"{verifier.name} cannot be run on rational functions: {error}") from None
    proof.seconds = round(monotonic() - started, 3)
    return proof


def _spelled(scheme: Scheme) -> str:
    if scheme.kind == "chain":
        return f"depth={scheme.depth}"
    return f"draft={scheme}"


def _words(proof: Proof, domain: Domain, verifier: Verifier, scheme: Scheme, done: set[Prefix]) -> None:
    words = list(product(range(domain.vocab), repeat=domain.depth + domain.leaves))
    proof.parameters = domain.parameters
    proof.done = [word for word in words if word in done]
    proof.left = [word for word in words if word not in done]
    for word in list(proof.left):
        try:
            failing = _failing(domain, through(domain, verifier, scheme, word), word)
            for cell in failing:
                proof.counterexample = _confirmed(domain, cell, verifier, scheme)
                if proof.counterexample is not None:
                    proof.verdict = "refuted"
                    return
                proof.why = "the law differs in a cell in which no rational point was found"
            if proof.why:
                return
        except OutOfTime:
            proof.why = f"out of time with {len(proof.left)} of {len(words)} words left"
            return
        finally:
            proof.cells = domain.signs.cells
        proof.left.remove(word)
        proof.done.append(word)
    proof.verdict = "proved"


def through(domain: Domain, verifier: Verifier, scheme: Scheme, word: Prefix) -> Program:
    """The program whose expectation is the mass through `word` of one iteration, completed."""
    number = domain.signs.number

    def program(oracle: Oracle) -> Symbol:
        node, row = verifier.verify(oracle, draw(scheme, oracle, domain.proposal), domain.target)
        at = len(node.prefix)
        if node.prefix != word[:at]:
            return number(0)
        if at == domain.depth and not domain.leaves:
            if row is not domain.target[node.prefix]:
                raise LeafRead
            return number(1)
        mass = number(1) * row[word[at]]
        for i in range(at + 1, len(word)):
            mass = mass * domain.target[word[:i]][word[i]]
        return mass

    return program


def _failing(domain: Domain, program: Program, word: Prefix) -> Iterator[Cell]:
    # The cells in which the mass through the word is not shown to be the product formula.
    try:
        tree = domain.signs.expectation(program, domain.whole)
    except ZeroDivisionError:
        yield domain.signs.here
        return
    want = domain.product(word)
    for cell, mass in leaves(domain.whole, tree):
        if not cell.agree(mass, want):
            _, differs = cell.sides(mass.top * want.bottom - want.top * mass.bottom, ZERO)
            if differs is not None:
                yield differs


def _confirmed(domain: Domain, cell: Cell, verifier: Verifier, scheme: Scheme) -> Instance | None:
    # A rational instance in the cell on which exact enumeration finds the wrong law, made small.
    def fails(instance: Instance) -> bool:
        try:
            return judge(instance, verifier, 1).wrong is not None
        except ZeroDivisionError:
            return True

    for point in _points(cell):
        target, proposal = domain.at(point)
        instance = Instance(target, proposal, scheme)
        if fails(instance):
            return shrink(instance, lambda small: small.vocab == domain.vocab and fails(small))
    return None


def _points(cell: Cell) -> Iterator[dict[str, fmpq]]:
    if cell.point is not None:
        yield cell.point
