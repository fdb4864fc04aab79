"""The ways in which a claim of some sizes is checked: sign cells, search, a counterexample."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from draftproof.proofs_check.cells.cell import sides
from draftproof.proofs_check.cells.domain import Domain, rational_points
from draftproof.proofs_check.cells.symbol import NEGATIVE, ZERO, Symbol
from draftproof.proofs_check.cells.tree import leaves, mapped
from draftproof.proofs_check.claims.claim import CELLS, REFUTED, SIZES, UNDECIDED, unrefuted
from draftproof.proofs_check.claims.quantities import Mean, Quantity
from draftproof.proofs_check.prove import prove
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.targets import ITSELF
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifiers import named

SECONDS = 1800.0  # time limit of one sign-cell proof, in CPU seconds

T = TypeVar("T")
Case = tuple[int, Scheme]  # a vocabulary and a draft


class Lossless:
    """Proves by sign cells, at every size given, that a verifier follows the target; or, of a declared `law`,
    that its rule follows that.
    """

    behind = CELLS

    def __init__(self, verifier: str, *cases: Case, law: Declared = ITSELF):
        self.verifier, self.cases, self.law = verifier, cases, law

    def __call__(self) -> str:
        rule = named(self.verifier) if self.law == ITSELF else self.law.rule
        verdicts = (prove(rule, scheme, vocab, SECONDS, self.law).verdict for vocab, scheme in self.cases)
        return next((verdict for verdict in verdicts if verdict != "proved"), SIZES)


EQUAL, NEVER_BELOW = "equal", "never below"


def compare(a: Mean, b: Mean, vocab: int, depth: int, seconds: float = SECONDS) -> str:
    """Whether mean a is EQUAL to mean b or NEVER_BELOW it for all p and q, or REFUTED by rational ones.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> compare(*(Quantity(name).mean(Chain(1)) for name in ("block", "token")), vocab=2, depth=1)
    'equal'
    """
    domain = Domain(vocab, depth, seconds)
    enumeration, whole = domain.enumeration, domain.whole
    try:
        left = enumeration.expectation(partial(a, domain), whole)
        right = mapped(enumeration.expectation(partial(b, domain), whole), Symbol.__neg__)
    except Invalid:  # one of the two is the mean of no sampler
        return UNDECIDED
    relation = EQUAL
    for cell, difference in leaves(whole, enumeration.sum(whole, left, right)):
        if cell.vanishes(difference.top):
            continue
        below, _ = sides(cell, difference.top * difference.bottom, NEGATIVE)
        if below is not None:
            return UNDECIDED if next(rational_points(below), None) is None else REFUTED
        if sides(cell, difference.top, ZERO)[1] is not None:
            relation = NEVER_BELOW
    return relation


class Related:
    """Proves mean a EQUAL to mean b, or NEVER_BELOW it, at every size given, by sign cells."""

    behind = CELLS

    def __init__(self, wanted: str, a: Callable[[Scheme], Mean], b: Callable[[Scheme], Mean], *cases: Case):
        self.wanted, self.a, self.b, self.cases = wanted, a, b, cases

    def __call__(self) -> str:
        for vocab, scheme in self.cases:
            relation = compare(self.a(scheme), self.b(scheme), vocab, scheme.depth)
            if relation not in (EQUAL, self.wanted):
                return UNDECIDED if relation == UNDECIDED else REFUTED
        return SIZES


def exact_instances(cases: Iterable[Case], count: int) -> Iterator[Instance]:
    """All scenarios, then `count` random instances, of every size."""
    for vocab, scheme in cases:
        yield from Scenarios(scheme, vocab)
        yield from Randoms(scheme, vocab, count)


def by_depth(instance: Instance, first: bool = False) -> Instance:
    """The instance with a proposal whose rows depend on the depth alone; with `first`, q_1 = p_1."""
    given, depth, vocab = instance.proposal, instance.draft.depth, instance.vocab
    rows = {x: given[(0,) * len(x)] for x in prefixes(vocab, depth - 1)}
    if first:
        rows[()] = instance.target[()]
    return replace(instance, proposal=Table(vocab, rows))


def found_in(cases: Callable[[], Iterable[T]], holds: Callable[[T], bool]) -> Callable[[], str]:
    """A search through the cases that ends at the first one where the statement does not hold."""

    def check() -> str:
        tried = 0
        for case in cases():
            if not holds(case):
                return REFUTED
            tried += 1
        return unrefuted(tried)

    return check


def searched(holds: Callable[[Instance], bool], cases: Iterable[Case], count: int) -> Callable[[], str]:
    """A search through `exact_instances`."""
    return found_in(lambda: exact_instances(cases, count), holds)


def refuted_on(witness: T, holds: Callable[[T], bool]) -> Callable[[], str]:
    """Looks whether the statement still fails to hold on its counterexample."""
    return lambda: UNDECIDED if holds(witness) else REFUTED


def related(
    wanted: str, pair: Sequence[str], cases: Sequence[Case], random: int = 0, witness: Instance | None = None
) -> Callable[[], str]:
    """The check that one quantity is EQUAL to another, or NEVER_BELOW it: by sign cells, by a
    search with so many random instances of every size, or on the witness that refutes it.
    """
    a, b = map(Quantity, pair)

    def holds(instance: Instance) -> bool:
        x, y = a.on(instance), b.on(instance)
        return x == y if wanted == EQUAL else x >= y

    if witness is not None:
        return refuted_on(witness, holds)
    return searched(holds, cases, random) if random else Related(wanted, a.mean, b.mean, *cases)
