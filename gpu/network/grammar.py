"""Grammars for real tokenizers: an automaton over characters becomes one over tokens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.schema import automaton
from draftproof.simulators.support.files import text_of
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.targets.processors import Mask

ENDED = "ended"
"""The state after an end token."""

ANCHOR = "a"
"""Tokens are decoded behind this text, because some tokenizers drop a space at the beginning."""


@dataclass(frozen=True)
class Grammar:
    """An automaton over characters: state -> character -> state. In a final state the text may end."""

    start: str
    edges: Mapping[str, Mapping[str, str]]
    final: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: Any) -> "Grammar":
        """The grammar of `{"start": STATE, "edges": {STATE: {CHARACTERS: STATE}}, "final": [STATE]}`; an edge
        is taken by any one of its characters. Raises BadInput for anything else, and for a state without a
        way out.

        >>> Grammar.of({"start": "a", "edges": {"a": {"01": "a"}}}).edges
        {'a': {'0': 'a', '1': 'a'}}
        """
        if (
            not isinstance(given, dict)
            or {"start", "edges"} - set(given)
            or set(given) - {*cls.__match_args__}
        ):
            raise BadInput("a grammar is an object with start, edges and, if a text may end, final")
        edges, final = given["edges"], given.get("final", [])
        if not isinstance(edges, dict) or not all(isinstance(out, dict) for out in edges.values()):
            raise BadInput("edges must be an object: state -> characters -> state")
        if not isinstance(final, list):
            raise BadInput("final must be a list of states")
        for state in (given["start"], *final, *(to for out in edges.values() for to in out.values())):
            if not isinstance(state, str) or state not in edges or state == ENDED:
                raise BadInput(f"state {quoted(state)} is not in edges")
        for state, out in edges.items():
            labels = "".join(out)
            if len(set(labels)) < len(labels):
                raise BadInput(f"state {quoted(state)}: a character is on two edges")
            if not labels and state not in final:
                raise BadInput(f"state {quoted(state)} has no way out")
        single = {state: {x: to for label, to in out.items() for x in label} for state, out in edges.items()}
        return cls(given["start"], single, frozenset(final))

    def over_tokens(self, texts: Mapping[int, str], ends: frozenset[int]) -> Mask:
        """The same over tokens with these texts: a token is allowed if all its characters are read. BadInput
        for a state that can be reached and that no token leaves.

        >>> grammar = Grammar.of({"start": "a", "edges": {"a": {"x": "b"}, "b": {"y": "a"}}})
        >>> grammar.over_tokens({0: "x", 1: "xy", 2: "y", 3: "yy"}, frozenset()).edges
        {'a': {'0': 'b', '1': 'a'}, 'b': {'2': 'a'}}
        """
        edges: dict[str, dict[str, str]] = {}
        todo = [self.start]
        for state in todo:  # the list grows by the states that tokens lead to
            reached = ((token, self._after(state, text)) for token, text in texts.items())
            edges[state] = {str(token): to for token, to in reached if to is not None}
            if state in self.final or state == ENDED:
                edges[state] |= {str(token): ENDED for token in ends}
            if not edges[state]:
                raise BadInput(f"no token of the vocabulary leads on from state {quoted(state)}")
            todo += [to for to in dict.fromkeys(edges[state].values()) if to not in todo]
        return Mask(self.start, edges)

    def _after(self, state: str, text: str) -> str | None:
        at: str | None = state
        for x in text:
            at = self.edges.get(at, {}).get(x)
            if at is None:
                return None
        return at


def read(file: Path, target: Model) -> Mask:
    """The grammar in a JSON file, over a model's tokens: an automaton, or a schema (`schema.automaton`).
    BadInput for a file that is neither.
    """
    try:
        given = json.loads(text_of(file))
    except json.JSONDecodeError:
        raise BadInput(f"{file}: not JSON") from None
    try:
        of_schema = isinstance(given, dict) and not {"start", "edges"} & set(given)
        return Grammar.of(automaton(given) if of_schema else given).over_tokens(texts(target), target.ends)
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None


def texts(target: Model) -> dict[int, str]:
    """The text of every token that has one: no special tokens, and no parts of a character."""
    tokenizer = target.tokenizer
    anchor = tokenizer.encode(ANCHOR, add_special_tokens=False)
    before, special = len(tokenizer.decode(anchor)), {*tokenizer.all_special_ids, *target.ends}
    every = {token: tokenizer.decode([*anchor, token])[before:] for token in range(target.known)}
    return {
        token: text
        for token, text in every.items()
        if text and token not in special and "\N{REPLACEMENT CHARACTER}" not in text
    }
