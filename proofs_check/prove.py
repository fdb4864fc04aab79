"""Proofs of one size: lossless for all real p and q, or rational ones on which it is not.

One iteration is lossless exactly when, for every word of `depth` tokens, the mass of all that is
emitted and completed through that word is the product formula, and the token after a full draft is
drawn from the target's own row. What is emitted is completed by the target, or, for a verifier that
keeps state, by the target that it leaves behind: then later iterations, lossless for whatever target
they are given, complete it likewise. The words are proved one by one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from time import thread_time
from typing import Any, Literal

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.cutting import sides
from draftproof.proofs_check.cells.deferred import draw
from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.points import rational_points, why_none
from draftproof.proofs_check.cells.signs import Program
from draftproof.proofs_check.cells.signset import ZERO
from draftproof.proofs_check.cells.solver import OutOfTime, Solver
from draftproof.proofs_check.cells.symbol import LeafRead, Symbol
from draftproof.proofs_check.cells.tree import leaves
from draftproof.proofs_check.counterexample import searched, smaller, wrong
from draftproof.proofs_check.progress import Begun
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.verifier import Verifier

Answer = Literal["proved", "refuted", "undecided"]


@dataclass
class Proof:
    """What was found, and what it took.

    `done` and `left` are the words whose mass was proved, and the others; `begun` is a word that
    time ran out on, with what was worked out of it. `cells` counts the runs of the verifier that
    came to an end, one for each way of drawing in each cell of signs; `parameters` are free
    probabilities; `seconds` are CPU seconds. `counterexample` is confirmed by exact enumeration.
    """

    verifier: str
    scope: str
    verdict: Answer
    cells: int = 0
    parameters: int = 0
    seconds: float = 0.0
    done: list[Prefix] = field(default_factory=list)
    left: list[Prefix] = field(default_factory=list)
    begun: Begun | None = None
    counterexample: Instance | None = None
    why: str = ""


def prove(
    verifier: Verifier,
    scheme: Scheme,
    vocab: int,
    seconds: float = 60.0,
    done: Iterable[Prefix] = (),
    begun: Begun | None = None,
    keep: Callable[[Proof], None] = lambda proof: None,
) -> Proof:
    """Proves or refutes that one iteration is lossless, for all real p and q, zeros included.

    Words in `done` were proved before and are not proved again, a word `begun` is taken up where it
    was left; every call does some of what is left, however few the CPU seconds. `keep` is given the
    proof at the end, also when it is interrupted. A verifier that computes with more than the four
    operations and comparisons is searched for a counterexample instead. Raises BadInput for a
    vocabulary below 2.

    >>> from draftproof.simulators.verdict import judge
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> prove(named("token"), Chain(1), vocab=2).verdict
    'proved'
    >>> refuted = prove(named("hsd-released"), Chain(2), vocab=2)
    >>> refuted.verdict, judge(refuted.counterexample, named("hsd-released")).lossless
    ('refuted', False)
    """
    if vocab < 2:
        raise BadInput(f"a proof needs a vocabulary of at least 2, not {vocab}")
    started, solver = thread_time(), Solver()
    size = f"depth={scheme.depth}" if scheme.kind == "chain" else f"draft={scheme}"
    proof = Proof(verifier.name, f"vocab={vocab} {size}", "undecided", begun=begun)
    known = set(done)
    try:
        try:
            _words(proof, Domain(vocab, scheme.depth, solver, seconds), verifier, scheme, known)
        except LeafRead:
            _words(proof, Domain(vocab, scheme.depth, solver, seconds, leaves=True), verifier, scheme, known)
    except TypeError as error:
        proof.why = f"{verifier.name} cannot be run on rational functions ({error})"
        _search(proof, verifier, scheme, vocab)
    finally:
        proof.seconds = round(thread_time() - started, 3)
        keep(proof)
    return proof


def _words(proof: Proof, domain: Domain, verifier: Verifier, scheme: Scheme, done: set[Prefix]) -> None:
    words = list(product(range(domain.vocab), repeat=domain.depth + domain.leaves))
    proof.parameters = domain.parameters
    proof.done = [word for word in words if word in done]
    proof.left = [word for word in words if word not in done]
    signs = domain.signs
    for word in list(proof.left):
        kept = proof.begun[1] if proof.begun is not None and proof.begun[0] == word else None
        lost: list[Cell] = []
        try:
            for cell in _failing(domain, through(domain, verifier, scheme, word), word, kept):
                lost.append(cell)
                if (instance := _witness(domain, cell, verifier, scheme)) is not None:
                    _refuted(proof, instance, verifier)
                    return
        except (OutOfTime, KeyboardInterrupt) as stopped:
            trees = signs.memory.spelled()
            proof.begun = (word, trees) if trees else None
            proof.why = f"out of time with {len(proof.left)} of {len(words)} words left"
            if isinstance(stopped, KeyboardInterrupt):
                raise
            return
        finally:
            proof.cells = signs.cells
        if lost:
            proof.why = f"the law differs in a cell; of rational points in it {why_none(lost[0])}"
            _search(proof, verifier, scheme, domain.vocab)
            return
        proof.begun = None
        proof.left.remove(word)
        proof.done.append(word)
    proof.verdict = "proved"


def through(domain: Domain, verifier: Verifier, scheme: Scheme, word: Prefix) -> Program:
    """The program whose expectation is the mass through `word` of one iteration, completed."""
    number = domain.signs.number

    def program(oracle: Oracle) -> Symbol:
        draft = draw(scheme, oracle, domain.proposal)
        node, row = verifier.verify(oracle, draft, domain.target)
        at = len(node.prefix)
        if node.prefix != word[:at]:
            return number(0)
        if at == domain.depth and not domain.leaves:
            if row is not domain.target[node.prefix]:
                raise LeafRead
            return number(1)
        following = domain.target
        if verifier.carry is not None:
            following = verifier.carry(domain.target, domain.proposal, draft, node)
        mass = number(1) * row[word[at]]
        for i in range(at + 1, len(word)):
            mass = mass * following[word[:i]][word[i]]
        return mass

    return program


def _failing(domain: Domain, program: Program, word: Prefix, kept: dict[str, Any] | None) -> Iterator[Cell]:
    # The cells in which the mass through the word is not shown to be the product formula.
    try:
        tree = domain.signs.expectation(program, domain.whole, kept)
    except ZeroDivisionError:
        yield domain.signs.here
        return
    want = domain.product(word)
    for cell, mass in leaves(domain.whole, tree):
        if not cell.agree(mass, want):
            _, differs = sides(cell, mass.top * want.bottom - want.top * mass.bottom, ZERO)
            if differs is not None:
                yield differs


def _witness(domain: Domain, cell: Cell, verifier: Verifier, scheme: Scheme) -> Instance | None:
    instances = (Instance(*domain.at(point), scheme) for point in rational_points(cell))
    return next((instance for instance in instances if wrong(instance, verifier)), None)


def _search(proof: Proof, verifier: Verifier, scheme: Scheme, vocab: int) -> None:
    found, count = searched(verifier, scheme, vocab)
    if found is None:
        proof.why += f"; no counterexample in {count} exact instances"
    else:
        _refuted(proof, found, verifier)


def _refuted(proof: Proof, instance: Instance, verifier: Verifier) -> None:
    proof.verdict, proof.why, proof.begun = "refuted", "", None
    proof.counterexample = smaller(instance, verifier)
