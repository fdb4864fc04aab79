"""A grammar from a small JSON schema: objects with all properties in order, arrays, and plain values."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from draftproof.theory.errors import BadInput, quoted

PRINTABLE = "".join(map(chr, range(32, 127)))
IN_STRINGS = "".join(x for x in PRINTABLE if x not in '"\\')
"""What a string consists of: printable ASCII without escapes."""

DEEPEST = 16

Edges = dict[str, dict[str, str]]


def automaton(schema: Any) -> dict[str, Any]:
    """The automaton over characters, as `grammar.Grammar.of` reads it, of the texts that a schema allows.

    A schema is {"enum": [VALUE]} or has a "type": "integer", "boolean", "null", "string", "array" with
    "items" (one or more), or "object" with "properties", which all appear in their order. Texts have one
    space after a comma and a colon. Raises BadInput for anything else.

    >>> sorted(automaton({"type": "boolean"})["edges"]["0"])
    ['f', 't']
    """
    made = _Automaton()
    start = made.state()
    return {"start": start, "edges": made.edges, "final": made.value([start], schema, 0)}


class _Automaton:
    """Every method takes the states that a part begins in, and gives those that it ends in."""

    def __init__(self) -> None:
        self.edges: Edges = {}
        self.names = map(str, count())

    def state(self) -> str:
        name = next(self.names)
        self.edges[name] = {}
        return name

    def literal(self, states: list[str], text: str) -> list[str]:
        """A fixed text; what it shares with texts from the same states leads to the same states."""
        for x in text:
            known = [self.edges[state][x] for state in states if x in self.edges[state]]
            to = known[0] if known else self.state()
            for state in states:
                self.edges[state][x] = to
            states = [to]
        return states

    def value(self, states: list[str], schema: Any, depth: int) -> list[str]:
        kinds: dict[str, Callable[[], list[str]]] = {
            "integer": lambda: self.integer(states),
            "boolean": lambda: self.one_of(states, [True, False]),
            "null": lambda: self.one_of(states, [None]),
            "string": lambda: self.string(states),
            "array": lambda: self.array(states, schema, depth + 1),
            "object": lambda: self.object(states, schema, depth + 1),
        }
        if depth > DEEPEST:
            raise BadInput(f"a schema is at most {DEEPEST} levels deep")
        if isinstance(schema, dict) and isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.one_of(states, schema["enum"])
        kind = schema.get("type") if isinstance(schema, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise BadInput(f"a schema has an enum or a type: {', '.join(kinds)}")
        known = {"type", *{"array": ["items"], "object": ["properties"]}.get(kind, [])}
        if unknown := set(schema) - known:
            raise BadInput(f"unknown key {quoted(min(unknown))} of a schema of type {kind}")
        return kinds[kind]()

    def one_of(self, states: list[str], values: list[Any]) -> list[str]:
        return [end for value in values for end in self.literal(states, json.dumps(value))]

    def integer(self, states: list[str]) -> list[str]:
        signed = self.literal(states, "-")
        zero, more = self.literal(states, "0"), self.state()
        for digit in "123456789":
            for state in (*states, *signed):
                self.edges[state][digit] = more
        self.edges[more] |= dict.fromkeys("0123456789", more)
        return [*zero, more]

    def string(self, states: list[str]) -> list[str]:
        (inside,) = self.literal(states, '"')
        self.edges[inside] |= dict.fromkeys(IN_STRINGS, inside)
        return self.literal([inside], '"')

    def array(self, states: list[str], schema: Any, depth: int) -> list[str]:
        items = self.literal(states, "[")
        ends = self.value(items, schema.get("items"), depth)
        for state in self.literal(ends, ","):
            self.edges[state][" "] = items[0]
        return self.literal(ends, "]")

    def object(self, states: list[str], schema: Any, depth: int) -> list[str]:
        given = schema.get("properties")
        if not isinstance(given, dict) or not given:
            raise BadInput("an object has properties: name -> schema")
        states = self.literal(states, "{")
        for number, (name, of) in enumerate(given.items()):
            states = self.literal(states, (", " if number else "") + json.dumps(name) + ": ")
            states = self.value(states, of, depth)
        return self.literal(states, "}")
