"""Verifiers of a user's under exact enumeration: what they return, and that a run repeats.

An enumeration runs a verifier once for every sequence of answers of the oracle. What it finds is the law only
if nothing else decides what a run does, so a verifier from outside the project is run again on the same
answers.
"""

from collections.abc import Callable
from copy import deepcopy
from inspect import iscoroutine
from typing import Any, TypeVar, cast

from flint import fmpq

from draftproof.simulators.laws.outside import seen
from draftproof.simulators.support.limits import CALL_SECONDS, Interrupted, TooLong, limited, words
from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop, Verifier

Result = TypeVar("Result")

OFTEN, FIRST_RUNS = 4, 8
"""Each run is repeated once, and each of the first runs of an enumeration so often beside it."""


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
    function = getattr(verifier.verify, "func", verifier.verify)  # of a partial
    return str(getattr(function, "__module__", "")).startswith("draftproof.")


def of_a_user(verifier: Verifier) -> bool:
    """Whether the verifier is none of the project's own, by its code, or was made of a function on floats."""
    return verifier.rounding is not None or not of_the_project(verifier)


def must_have_a_law(verifier: Verifier, invalid: str) -> None:
    """BadInput for a verifier from outside the project that was found `invalid`: there is no law to judge."""
    if invalid and of_a_user(verifier):
        raise BadInput(f"{verifier.name} has no law: {invalid}")


def carried(verifier: Verifier, target: Rows, proposal: Rows, draft: Draft, node: Node) -> Rows:
    """The target that a verifier leaves behind; the same one if it keeps no state."""
    carry = verifier.carry
    if carry is None:
        return target
    if of_the_project(verifier):
        return carry(target, proposal, draft, node)
    name = f"{verifier.name}: carry"
    with seen(carry) as asked:
        try:
            following: Any = called(name, lambda: carry(target, proposal, draft, node))
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"{name} raises {said(error)}") from error
    if asked:
        raise BadInput(f"{name} draws outside the oracle: a run asks or changes {asked[0]}")
    if not hasattr(following, "__getitem__") or not hasattr(following, "vocab"):
        raise BadInput(f"{name} returned a {type(following).__name__}, and no target")
    return following


def called(name: str, function: Callable[[], Result]) -> Result:
    """The result of a user's code. Raises BadInput if it takes too long, leaves or raises anything that is no
    `Exception`; an exception is the caller's to judge.
    """
    try:
        with limited(CALL_SECONDS):
            return function()
    except TooLong as late:
        raise BadInput(f"{name}: {late}") from None
    except (Exception, Interrupted):
        raise
    except BaseException as error:
        raise BadInput(f"{name} raises {said(error)}") from None


def said(error: BaseException) -> str:
    """An exception of a user's code in one line."""
    try:
        return f"{type(error).__name__}: {words(error)}".rstrip(": ")
    except TooLong:
        return type(error).__name__


def on_rationals(verifier: Verifier) -> "Callable[[Oracle, Draft, Rows], Stop] | Repeated":
    """`verify` for an exact enumeration: as it is if it is the project's, or with its runs repeated."""
    return verifier.verify if of_the_project(verifier) else Repeated(verifier)


Run = tuple[list[tuple[Any, Any]], Draft, Rows, Stop | None, Exception | None]
"""The questions and answers of a run, its draft and target, and what it returned or raised."""


class Repeated:
    """The verifier's `verify`, on rationals, with its runs repeated: at once, the first ones often and on
    copies of the draft, and again by `recheck`, after other runs.

    It raises BadInput if a run does not repeat or asks other things than the oracle, if it returns anything
    else than a node of the draft and a row of rationals, and for a TypeError, which says that the code cannot
    be run on rationals.
    """

    def __init__(self, verifier: Verifier):
        self.verifier, self.runs = verifier, 0
        self.kept: list[Run] = []

    def __call__(self, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        self.runs += 1
        recorded = Recorded(oracle)
        stop, fault = self._end(recorded, draft, target)
        run: Run = recorded.asked, draft, target, stop, fault
        first = self.runs <= FIRST_RUNS
        with seen(self.verifier.verify) as asked:
            self._repeat(run)
        copies = [deepcopy(draft) for _ in range(OFTEN * first)]  # at different addresses
        for copy in copies:
            self._repeat((run[0], copy, *run[2:]))
        if asked:
            raise BadInput(f"{self.verifier.name} draws outside the oracle: a run asks or changes {asked[0]}")
        if first:
            self.kept.append(run)
        if fault is not None:
            raise fault
        return cast(Stop, stop)

    def recheck(self) -> None:
        """Repeats the first runs of this enumeration once more."""
        for run in self.kept:
            self._repeat(run)

    def _repeat(self, run: Run) -> None:
        asked, draft, target, stop, fault = run
        replayed = Replayed(asked)
        again, other = self._end(replayed, draft, target)
        if fault is None and next(replayed.asked, None) is not None:
            other = Differs()
        # a question that the oracle refused has no answer, so its repetition differs there
        refused = fault is not None and isinstance(other, Differs)
        if not _alike(again, stop) or not (refused or type(other) is type(fault)):
            raise BadInput(
                f"{self.verifier.name} draws outside the oracle: after equal answers its runs differ"
            )

    def _end(self, oracle: Oracle, draft: Draft, target: Rows) -> tuple[Stop | None, Exception | None]:
        # What a run returned, or what it raised.
        try:
            return called(self.verifier.name, lambda: _run(self.verifier, oracle, draft, target)), None
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
    """One run; BadInput if it cannot be run on rationals or returns something else than a node of the draft
    and a row.
    """
    name = verifier.name
    try:
        stop: Any = verifier.verify(oracle, draft, target)
    except TypeError as error:
        raise BadInput(f"{name} cannot be run on rationals: {words(error)}") from error
    if not isinstance(stop, tuple | list) or len(stop) != 2 or not isinstance(stop[0], Node):
        if iscoroutine(stop):
            stop.close()  # or Python warns
        found = f"a {type(stop).__name__}" if stop is not None else "nothing"
        raise BadInput(f"{name} returned {found}, and not a node of the draft and a row")
    node, row = stop
    if all(each.prefix != node.prefix for each in draft.root):
        raise BadInput(f"{name} returned the node {quoted(node.prefix)}, which is not in the draft")
    must_be_rationals(row, len(target[draft.root.prefix]), f"{name} returned")
    return node, row


def must_be_rationals(row: Any, size: int, what: str) -> None:
    """BadInput unless the row is so many rationals."""
    if not isinstance(row, tuple | list) or len(row) != size:
        raise BadInput(f"{what} a {type(row).__name__}, and no row of {size} rationals")
    for mass in row:
        if not isinstance(mass, fmpq | int):
            raise BadInput(f"{what} a row with a {type(mass).__name__}; rationals are exact")
