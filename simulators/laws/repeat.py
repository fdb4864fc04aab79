"""Verifiers of a user's under exact enumeration: what they return, and that a run repeats.

An enumeration runs a verifier once for every sequence of answers of the oracle. What it finds is the law only
if nothing else decides what a run does, so a verifier from outside the project is run again on the same
answers.
"""

from collections.abc import Callable
from typing import Any, cast

from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop, Verifier

OFTEN, FIRST_RUNS = 4, 8
"""Each of the first runs of an enumeration is repeated so often, and every later run once."""


class Recorded:
    """An oracle that passes each question to another one, and keeps the questions and answers."""

    def __init__(self, oracle: Oracle):
        self.oracle = oracle
        self.asked: list[tuple[Any, Any]] = []

    def choose(self, row: Row) -> int:
        answer = self.oracle.choose(row)
        self.asked.append(([*row], answer))
        return answer

    def accept(self, probability: Any) -> bool:
        answer = self.oracle.accept(probability)
        self.asked.append((probability, answer))
        return answer


class Replayed:
    """An oracle that gives recorded answers again; raises `Differs` for any other question."""

    def __init__(self, asked: list[tuple[Any, Any]]):
        self.asked = iter(asked)

    def choose(self, row: Row) -> int:
        return self._answer([*row])

    def accept(self, probability: Any) -> bool:
        return self._answer(probability)

    def _answer(self, question: Any) -> Any:
        before, answer = next(self.asked, (None, None))
        if type(before) is not type(question) or before != question:
            raise Differs
        return answer


class Differs(Exception):
    """A run asked another question than the run before it."""


def of_the_project(verifier: Verifier) -> bool:
    """Whether the verifier's code lies in the project, where tests see to what is judged here."""
    return str(getattr(verifier.verify, "__module__", "")).startswith("draftproof.")


def on_rationals(verifier: Verifier) -> Callable[[Oracle, Draft, Rows], Stop]:
    """`verify` for an exact enumeration: as it is if it is the project's, or with its runs repeated."""
    return verifier.verify if of_the_project(verifier) else repeated(verifier)


def repeated(verifier: Verifier) -> Callable[[Oracle, Draft, Rows], Stop]:
    """The verifier's `verify`, on rationals, with every run repeated.

    It raises BadInput if a run does not repeat, if it returns anything else than a node and a row of
    rationals, and for a TypeError, which says that the code cannot be run on rationals.
    """
    runs = 0

    def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        nonlocal runs
        runs += 1
        recorded = Recorded(oracle)
        stop, fault = _end(verifier, recorded, draft, target)
        for _ in range(OFTEN if runs <= FIRST_RUNS else 1):
            replayed = Replayed(recorded.asked)
            again, other = _end(verifier, replayed, draft, target)
            if fault is None and next(replayed.asked, None) is not None:
                other = Differs()
            # a question that the oracle refused has no answer, so its repetition differs there
            refused = fault is not None and isinstance(other, Differs)
            if not _alike(again, stop) or not (refused or type(other) is type(fault)):
                raise BadInput(
                    f"{verifier.name} draws outside the oracle: after equal answers its runs differ"
                )
        if fault is not None:
            raise fault
        return cast(Stop, stop)

    return verify


def _end(
    verifier: Verifier, oracle: Oracle, draft: Draft, target: Rows
) -> tuple[Stop | None, Exception | None]:
    """What a run returned, or what it raised."""
    try:
        return _run(verifier, oracle, draft, target), None
    except BadInput:
        raise
    except Exception as error:
        return None, error


def _alike(a: Stop | None, b: Stop | None) -> bool:
    """Whether two runs stopped after the same tokens with the same row; a rule may make its nodes anew."""
    if a is None or b is None:
        return a is b
    return a[0].prefix == b[0].prefix and [*a[1]] == [*b[1]]


def _run(verifier: Verifier, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """One run; BadInput if it cannot be run on rationals or returns something else than a node and a row."""
    try:
        stop: Any = verifier.verify(oracle, draft, target)
    except TypeError as error:
        raise BadInput(f"{verifier.name} cannot be run on rationals: {error}") from error
    size = len(target[draft.root.prefix])
    if not isinstance(stop, tuple | list) or len(stop) != 2 or not isinstance(stop[0], Node):
        found = f"a {type(stop).__name__}" if stop is not None else "nothing"
        raise BadInput(f"{verifier.name} returned {found}, and not a node of the draft and a row")
    node, row = stop
    if not isinstance(row, tuple | list) or len(row) != size:
        raise BadInput(f"{verifier.name} returned a node and no row of {size} rationals")
    for mass in row:
        if not isinstance(mass, fmpq | int):
            raise BadInput(
                f"{verifier.name} returned a row with a {type(mass).__name__}; rationals are exact"
            )
    return node, row
