"""Equal things are written once: numbers, rows, variables and steps by their number in a pool."""

from collections.abc import Hashable
from types import CodeType
from typing import Any

from flint import fmpq

from draftproof.simulators.instances.files import spelled
from draftproof.simulators.report.explorer.walk import Step, Value, Walk, listing
from draftproof.theory.draft import Node
from draftproof.theory.numbers import text
from draftproof.theory.rows import Row


class Pool:
    """The shared parts of one instance's walks, and the page's document of them."""

    def __init__(self) -> None:
        kinds = ("numbers", "rows", "names", "prefixes", "functions", "values", "steps")
        self._known: dict[str, dict[Hashable, int]] = {kind: {} for kind in kinds}
        self._kept: dict[str, list[Any]] = {kind: [] for kind in kinds}

    def number(self, number: fmpq) -> int:
        return self._add("numbers", (int(number.p), int(number.q)))

    def row(self, row: Row) -> int:
        return self._add("rows", tuple(self.number(x) for x in row))

    def walk(self, walk: Walk | None) -> int:
        """A stop is [prefix, row or -1]; a step [function, line, variables, branches, after]; -1 is never."""
        if walk is None:
            return -1
        if not isinstance(walk, Step):
            prefix = self._add("prefixes", spelled(walk.prefix))
            return self._add("steps", (prefix, -1 if walk.row is None else self.row(walk.row)))
        step = (
            self._function(walk.code),
            walk.line,
            tuple(self._value(name, value) for name, value in walk.locals),
            tuple(self.number(mass) for mass in walk.branches),
            tuple(self.walk(each) for each in walk.after),
            walk.kind == "accept",
        )
        return self._add("steps", step)

    def document(self) -> dict[str, list[Any]]:
        """The pool as the page reads it."""
        return self._kept | {"numbers": [text(fmpq(*parts)) for parts in self._kept["numbers"]]}

    def _value(self, name: str, value: Value) -> int:
        at = self._add("names", name)
        if isinstance(value, fmpq):
            return self._add("values", (at, 0, self.number(value)))
        if isinstance(value, Node):
            return self._add("values", (at, 2, self._add("prefixes", spelled(value.prefix))))
        return self._add("values", (at, 1, self.row(value)))

    def _function(self, code: CodeType) -> int:
        return self._add("functions", code, {"name": code.co_name, "source": listing(code)})

    def _add(self, kind: str, key: Hashable, shown: Any = None) -> int:
        known = self._known[kind]
        if key not in known:
            known[key] = len(known)
            self._kept[kind].append(key if shown is None else shown)
        return known[key]
