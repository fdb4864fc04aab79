"""A verifier's walk on one draft: every choice with its probability, source line and local variables.

The oracle inspects the frame that calls it, so each step shows the algorithm's own variables under the names
of its pseudo-code, without extra code in verifiers.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

Value = fmpq | Row | Node
"""Types of the local variables that are shown: numbers, rows, nodes."""


@dataclass(frozen=True)
class Step:
    """A choice: each branch's probability, the walk after it (None if it has no mass), and the frame.

    `kind` is "accept" (branches: yes, no) or "choose" (one branch a token); `line` counts from the first
    line of the function.
    """

    kind: str
    branches: tuple[Any, ...]
    after: "tuple[Walk | None, ...]"
    code: CodeType
    line: int
    locals: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Stop:
    """The node where verification stopped; `row` is None if Y is drawn from the target's own row there."""

    prefix: Prefix
    row: Row | None


Walk = Step | Stop


class _Choice(Exception):
    def __init__(self, kind: str, branches: tuple[Number, ...], frame: FrameType):
        super().__init__(kind)
        self.kind, self.branches = kind, branches
        while frame.f_code.co_name.startswith("<") and frame.f_back is not None:
            frame = frame.f_back  # from a comprehension to its function
        self.code, self.line = frame.f_code, frame.f_lineno - frame.f_code.co_firstlineno
        self.locals = tuple(_shown(frame.f_locals))


class _Replay:
    # The oracle that repeats the choices of a trail and raises at the next one.
    def __init__(self, trail: tuple[int, ...]):
        self._left = iter(trail)

    def choose(self, row: Row) -> int:
        for choice in self._left:
            return choice
        raise _Choice("choose", tuple(row), inspect.currentframe().f_back)  # type: ignore[union-attr,arg-type]

    def accept(self, probability: Number) -> bool:
        for choice in self._left:
            return bool(choice)
        raise _Choice("accept", (probability, 1 - probability), inspect.currentframe().f_back)  # type: ignore[union-attr,arg-type]


def walk(verifier: Verifier, draft: Draft, target: Rows, trail: tuple[int, ...] = ()) -> Walk:
    """Every choice of the verifier on the draft, after the choices of the trail."""
    try:
        node, row = verifier.verify(_Replay(trail), draft, target)
    except _Choice as choice:
        answers = (1, 0) if choice.kind == "accept" else range(len(choice.branches))
        after = tuple(
            walk(verifier, draft, target, (*trail, answer)) if mass > 0 else None
            for answer, mass in zip(answers, choice.branches, strict=True)
        )
        return Step(choice.kind, choice.branches, after, choice.code, choice.line, choice.locals)
    return Stop(node.prefix, None if row is target[node.prefix] else tuple(row))


def _shown(variables: dict[str, Any]) -> Iterator[tuple[str, Value]]:
    for name, value in variables.items():
        if isinstance(value, (fmpq, Node)):
            yield name, value
        elif isinstance(value, (tuple, list)) and set(map(type, value)) == {fmpq}:
            yield name, tuple(value)  # a row, or numbers by position on a path
