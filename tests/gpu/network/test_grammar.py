"""Automata over characters become automata over tokens, and decoding stays in their language."""

import json
import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts as texts_of
from draftproof.gpu.network.grammar import Grammar, read, texts
from draftproof.gpu.sampling.processors import processors
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.schema import automaton
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput

LIST = {
    "start": "open",
    "edges": {
        "open": {"[": "value"},
        "value": {"123456789": "digits", "0": "after"},
        "digits": {"0123456789": "digits", ",": "space", "]": "closed"},
        "after": {",": "space", "]": "closed"},
        "space": {" ": "value"},
        "closed": {},
    },
    "final": ["closed"],
}
"""A list of numbers as JSON has it."""


@pytest.fixture(scope="module")
def shipped():
    return pair(None, None, "cpu")


@pytest.mark.parametrize(("draft", "verifier"), [("chain:4", "block"), ("tree:2x2", "traversal")])
def test_texts_are_in_the_language(shipped, tmp_path, draft, verifier):
    file = tmp_path / "list.json"
    file.write_text(json.dumps(LIST), encoding="utf-8")
    target, drafter = shipped
    made = processors(grammar=read(file, target))
    prompts = [target.tokenizer.encode("x = ")] * 16
    how = {"verifier": named(verifier), "structure": structure(draft), "max_new_tokens": 12}
    steps = list(generate(target, drafter, prompts, sampling=Sampling(1.5, processors=made), **how))
    (end,) = target.ends
    found = [target.tokenizer.decode(ids) for ids in texts_of(steps, 16)]
    whole = re.compile(r"\[(0|[1-9][0-9]*)(, (0|[1-9][0-9]*))*\]")
    ended = [text for text, ids in zip(found, texts_of(steps, 16), strict=True) if ids[-1] == end]
    assert len({*found}) > 4
    assert ended
    for text in ended:
        assert whole.fullmatch(text.removesuffix(target.tokenizer.decode([end])))
    for text in found:
        assert text.startswith("[")
        assert set(text.split("<")[0]) <= set("[]0123456789, ")
    assert sum(sum(step.accepted) for step in steps) > 0


SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "on": {"type": "boolean"},
        "of": {"enum": ["x", "xy", 1, 12, None]},
        "in": {"type": "array", "items": {"type": "array", "items": {"enum": [0, 3]}}},
        "as": {"type": "string"},
    },
}


def test_texts_are_what_the_schema_allows(shipped, tmp_path):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA), encoding="utf-8")
    target, drafter = shipped
    quote = target.tokenizer.encode('"')[0]
    made = processors(grammar=read(file, target), logit_bias={quote: 3.0, 0: 9.0})
    prompts = [target.tokenizer.encode("x = ")] * 24
    how = {"verifier": named("block"), "structure": structure("chain:4"), "max_new_tokens": 96}
    steps = generate(target, drafter, prompts, sampling=Sampling(1.5, top_k=20, processors=made), **how)
    found = [target.tokenizer.decode(ids[:-1]) for ids in texts_of(steps, 24) if ids[-1] in target.ends]
    assert len(found) > 4
    for text in found:
        value = json.loads(text)
        assert list(value) == list(SCHEMA["properties"])
        assert json.dumps(value) == text
        assert isinstance(value["id"], int)
        assert isinstance(value["on"], bool)
        assert value["of"] in ["x", "xy", 1, 12, None]
        assert all(x in (0, 3) for row in value["in"] for x in row)
        assert isinstance(value["as"], str)
    assert len({json.loads(text)["id"] for text in found}) > 2


def accepted(schema, text):
    found = automaton(schema)
    at = found["start"]
    for x in text:
        at = found["edges"].get(at, {}).get(x)
    return at in found["final"]


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, ["0", "7", "-120"], ["", "-", "-0", "01", "1.0", "--1"]),
        ({"type": "boolean"}, ["true", "false"], ["True", "tru"]),
        ({"enum": [1, 12, "a"]}, ["1", "12", '"a"'], ["2", "a", "11"]),
        ({"type": "string"}, ['""', '"a b"'], ['"', '"a"b"', '"\\""']),
        ({"type": "array", "items": {"type": "integer"}},
         ["[1]", "[10, -2, 0]"], ["[]", "[1,2]", "[1, ]", "[01]"]),
        ({"type": "object", "properties": {"a": {"type": "null"}, "b": {"enum": [2]}}},
         ['{"a": null, "b": 2}'], ["{}", '{"b": 2, "a": null}', '{"a": null}']),
    ],
)  # fmt: skip
def test_a_schemas_automaton(schema, right, wrong):
    assert all(accepted(schema, text) for text in right)
    assert not any(accepted(schema, text) for text in wrong)


def test_a_tokens_text_is_that_within_a_text(shipped):
    target, _ = shipped
    found = texts(target)
    ids = target.tokenizer.encode("def main(argv):\n    return 0")
    assert "".join(found[x] for x in ids) == "def main(argv):\n    return 0"
    assert not target.ends & set(found)


def test_a_token_may_pass_several_states():
    grammar = Grammar.of(
        {"start": "a", "edges": {"a": {"xz": "b"}, "b": {"y": "c"}, "c": {}}, "final": ["c"]}
    )
    mask = grammar.over_tokens({0: "x", 1: "xy", 2: "y", 3: "yx", 4: "z"}, frozenset({9}))
    assert mask.edges == {
        "a": {"0": "b", "1": "c", "4": "b"},
        "b": {"2": "c"},
        "c": {"9": "ended"},
        "ended": {"9": "ended"},
    }


EDGES = {"a": {"x": "b"}, "b": {"y": "a"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "a grammar is an object with start, edges"),
        ({"start": "a"}, "a grammar is an object with start, edges"),
        ({}, "a schema has an enum or a type: integer, boolean"),
        ({"type": "number"}, "a schema has an enum or a type"),
        ({"type": "array"}, "a schema has an enum or a type"),
        ({"type": "object", "properties": {}}, "an object has properties"),
        ({"type": "integer", "minimum": 3}, "unknown key 'minimum' of a schema of type integer"),
        ({"start": "a", "edges": EDGES, "ends": []}, "a grammar is an object with start, edges"),
        ({"start": "a", "edges": {"a": 1}}, "edges must be an object"),
        ({"start": "a", "edges": EDGES, "final": "a"}, "final must be a list"),
        ({"start": "z", "edges": EDGES}, "state 'z' is not in edges"),
        ({"start": "a", "edges": EDGES, "final": ["z"]}, "state 'z' is not in edges"),
        ({"start": "a", "edges": {"a": {"x": "c"}}}, "state 'c' is not in edges"),
        ({"start": "a", "edges": {"a": {"x": "a", "yx": "a"}}}, "state 'a': a character is on two edges"),
        ({"start": "a", "edges": {"a": {"x": "b"}, "b": {}}}, "state 'b' has no way out"),
        (
            {"start": "a", "edges": {"a": {"\u2603": "a"}}},
            "no token of the vocabulary leads on from state 'a'",
        ),
    ],
)
def test_what_is_no_grammar_is_bad_input(shipped, tmp_path, given, said):
    file = tmp_path / "grammar.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read(file, shipped[0])
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_cannot_be_read_is_bad_input(shipped, tmp_path):
    (tmp_path / "text").write_text("{", encoding="utf-8")
    for name, said in (("text", "not JSON"), ("nowhere", "no such file")):
        with pytest.raises(BadInput, match=said):
            read(tmp_path / name, shipped[0])
