"""Exact enumeration: a sampler program is run once for every sequence of outcomes of its choices."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from flint import fmpq

from draftproof.simulators.laws.repeat import Repeated, of_the_project, on_rationals, said
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, shown
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row, above, one, possible
from draftproof.theory.table import Rows, Table, flaw
from draftproof.theory.verifier import Verifier

Result = TypeVar("Result")

FRAMES = 12
"""Most Python calls that a verifier nests for each level of a draft."""

SHARED = 5_000
"""Most drafts of a scheme that are kept for the next verifier."""

CRASHES = ArithmeticError, AssertionError, AttributeError, LookupError, ValueError
"""What a verifier may raise on some rows. A TypeError says that it cannot be run on such numbers at all."""


class Invalid(Exception):
    """A verifier did what no sampler can: a coin outside [0, 1], a row that is no law, or it raised an
    exception. The message names the draft and the choices before it.
    """


class Enumerator:
    """The oracle that takes every branch in turn, depth first, and knows each one's weight: `weight` is the
    probability of the branches taken so far.

    A branch of weight zero is never entered. The numbers are those of the weight it starts with;
    an exact enumeration refuses floats, and raises Invalid for a coin outside [0, 1] and for a row that is
    no law. Exact lanes say in which of them that is so. Floats are rounded, so there it is not checked.
    """

    __slots__ = ("_at", "_exact", "_lanes", "_start", "_trail", "weight")

    def __init__(self, start: Any):
        self._start = self.weight = start
        self._exact = isinstance(start, fmpq)
        self._lanes: Any = getattr(start, "by", None)
        self._trail: list[list[tuple[int, Any]]] = []  # the branches still to take at each choice
        self._at = 0

    @property
    def choices(self) -> list[int]:
        """The branches taken so far: True and False of a coin, the token of a draw."""
        return [branches[-1][0] for branches in self._trail]

    @property
    def left(self) -> int:
        """The branches beside the current run that are known and not yet taken."""
        return sum(len(branches) - 1 for branches in self._trail)

    def choose(self, row: Row) -> int:
        at = self._at
        self._at = at + 1
        if at == len(self._trail):
            weight, reached = self.weight, bool if self._exact else possible
            must_be_a_law(row, weight=weight)
            self._branch([(x, weight * mass) for x, mass in enumerate(row) if reached(mass)])
        return self._trail[at][-1][0]

    def accept(self, probability: Any) -> bool:
        at = self._at
        self._at = at + 1
        if at == len(self._trail):
            weight = self.weight
            if self._exact and type(probability) is fmpq and 0.0 < float(probability) < 1.0:
                self.weight = kept = weight * probability
                self._trail.append([(False, weight - kept), (True, kept)])
                return True
            rest = 1 - probability
            if self._lanes is not None:
                self._lanes.must_be_a_coin(weight, probability)
            reached: Callable[[Any], bool] = bool if self._exact else possible
            branches: list[tuple[int, Any]] = [(True, weight * probability)] if reached(probability) else []
            if reached(rest):
                branches.append((False, weight * rest))
            if self._exact and not all(above(part) for _, part in branches):
                side = "below 0" if probability < 0 else "above 1"
                raise Invalid(f"the coin {shown(probability)} is {side}")
            self._branch(branches)
        return bool(self._trail[at][-1][0])

    def _branch(self, branches: list[tuple[int, Any]]) -> None:
        kind = type(self._start)
        for _, weight in branches:
            if type(weight) is not kind:
                found = type(weight).__name__
                raise TypeError(f"a weight of type {found} in an enumeration of {kind.__name__}")
        if not branches:
            raise Invalid("no answer is possible")
        branches.reverse()
        self._trail.append(branches)
        self.weight = branches[-1][1]

    def next(self) -> bool:
        """Goes back to the last choice that has a branch left; False if all branches were taken."""
        self._at = 0
        while self._trail:
            self._trail[-1].pop()
            if left := self._trail[-1]:
                self.weight = left[-1][1]
                return True
            self._trail.pop()
        return False


def outcomes(program: Callable[[Oracle], Result], start: Any = ONE) -> Iterator[tuple[Any, Result]]:
    """(weight, result) of every run of the program that has positive probability.

    >>> from draftproof.theory.numbers import exact
    >>> row = exact("1/4"), exact("3/4")
    >>> list(outcomes(lambda oracle: (oracle.choose(row), oracle.choose(row))))
    [(1/16, (0, 0)), (3/16, (0, 1)), (3/16, (1, 0)), (9/16, (1, 1))]
    """
    oracle = Enumerator(start)
    while True:
        result = program(oracle)
        yield oracle.weight, result
        if not oracle.next():
            return


def deepen(scheme: Scheme) -> None:
    """Increases Python's recursion limit if verifiers that recurse on such a draft need more."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1_000 + FRAMES * scheme.depth))


def must_be_a_law(row: Row, what: str = "drawn from", weight: Any = ONE) -> None:
    """Raises Invalid unless the rationals of the row, which is reached with this weight, are non-negative and
    sum to 1. Exact lanes are left where it is so, floats are not checked.
    """
    if type(weight) is fmpq:
        if found := flaw(row):
            raise Invalid(f"the row {what}, ({', '.join(map(shown, row))}), {found}")
    elif (lanes := getattr(weight, "by", None)) is not None:
        lanes.must_be_a_law(weight, row)


def iteration(
    scheme: Scheme, proposal: Rows, verifier: Verifier, target: Rows, *, context: Prefix = (), start: Any
) -> Iterator[tuple[Any, Draft, Node, Row]]:
    """(weight, draft, node, row) of every stop of one iteration after `context`, entered with weight `start`.

    Drafts are enumerated outside, verification inside: each draft is drawn once. Raises Invalid when the
    verifier does what no sampler can; only an exact enumeration checks rows and coins, and that a run of a
    verifier from outside the project repeats (`repeat.Repeated`: BadInput).
    """
    exact, given = isinstance(start, fmpq), isinstance(target, Table)  # a table's own rows are laws
    deepen(scheme)
    verify = on_rationals(verifier) if exact else verifier.verify
    own = of_the_project(verifier)
    for weight, draft in _drawn(scheme, proposal, context, start, exact and own):
        oracle, more = Enumerator(weight), True
        while more:
            try:
                node, row = verify(oracle, draft, target)
                if not (given and row is target[node.prefix]):
                    must_be_a_law(row, "returned", oracle.weight)
            except BadInput:
                raise
            except Exception as error:
                expected = isinstance(error, (Invalid, *CRASHES))
                if own and not expected:
                    raise
                what = f"{_branch(draft, context, oracle)}: {_said(error)}"
                raise Invalid(what) if expected else BadInput(f"{verifier.name}: {what}") from error
            yield oracle.weight, draft, node, row
            more = oracle.next()
    if isinstance(verify, Repeated):
        verify.recheck()


@contextmanager
def shared_drafts() -> Iterator[None]:
    """What is drafted for one of the project's verifiers is kept for the next ones, which only read it."""
    _shared.append({})
    try:
        yield
    finally:
        _shared.pop()


_shared: list[dict[tuple, tuple]] = []


def _drawn(
    scheme: Scheme, proposal: Rows, context: Prefix, start: Any, share: bool
) -> Iterator[tuple[Any, Draft]]:
    # Every draft with its weight, kept for others if they may `share` it.
    if not (share and _shared) or not hasattr(scheme, "outcomes") or scheme.outcomes(proposal.vocab) > SHARED:
        return outcomes(lambda oracle: scheme.draw(oracle, proposal, context), start)
    key = id(scheme), id(proposal), context
    if key not in _shared[-1]:
        every = list(outcomes(lambda oracle: scheme.draw(oracle, proposal, context)))
        _shared[-1][key] = every, scheme, proposal  # which keeps their ids
    every = _shared[-1][key][0]
    return iter(every) if start == ONE else ((start * weight, draft) for weight, draft in every)


def _branch(draft: Draft, context: Prefix, oracle: Enumerator) -> str:
    # What was drafted, path by path, and what the oracle answered.
    paths = (" ".join(map(str, path[-1].prefix[len(context) :])) or "nothing" for path in draft.paths)
    answers = ["accept" if x is True else "reject" if x is False else f"token {x}" for x in oracle.choices]
    after = f" after {' '.join(map(str, context))}" if context else ""
    return f"draft {' / '.join(paths)}{after}, coins {' '.join(answers) or 'none'}"


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, Invalid) else said(error)


def drafts(instance: Instance) -> Iterator[tuple[Any, Draft]]:
    """(probability, draft) of every draft of the instance."""
    return outcomes(lambda oracle: instance.draft.draw(oracle, instance.proposal))


def emission(instance: Instance, verifier: Verifier) -> Emission:
    """All that one iteration from the empty context can emit. Raises Invalid as `iteration` does.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> emitted = emission(toy, named("hsd-released"))
    >>> emitted.expected_accepted, emitted.total_variation, emitted.wrong_prefix()
    (4/3, 1/9, ((1, 0), 1/3, 2/9))
    """
    target = instance.target
    emitted = Emission(target)
    for weight, _, node, row in iteration(
        instance.draft, instance.proposal, verifier, target, start=one(target[()])
    ):
        emitted.add(weight, node, row)
    return emitted
