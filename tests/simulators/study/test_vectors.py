"""Test vectors: they follow their schema, and other arithmetic and other code follow them."""

import json
from pathlib import Path

import jsonschema
import pytest
from flint import fmpq

from draftproof.simulators.commands.vectors import vectors as command
from draftproof.simulators.instances.files import document, parse
from draftproof.simulators.study.vectors import vectors
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import VERIFIERS, named

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "vectors.schema.json").read_text())


@pytest.mark.parametrize("name", VERIFIERS)
def test_every_verifier_has_vectors_that_follow_the_schema(name):
    found = json.loads(json.dumps(vectors(named(name), vocab=2, depth=1, calls=1)))
    jsonschema.validate(found, SCHEMA)
    for instance in found["instances"]:
        again = document(parse(json.dumps(instance["instance"])))
        assert json.loads(json.dumps(again)) == instance["instance"]
        assert sum((exact(each["exact"]) for each in instance["law"]), fmpq(0)) == 1


def decided(choice, u):
    """What the uniform decides, in floats."""
    if "accept" in choice:
        return u < float(exact(choice["accept"]))
    row = [float(exact(mass)) for mass in choice["choose"]]
    return next(token for token in range(len(row)) if u < sum(row[: token + 1]))


@pytest.mark.parametrize(
    ("name", "draft"), [("block", "chain:3"), ("traversal", "tree:2x2"), ("multipath-block", "paths:2x2")]
)
def test_choices_follow_from_uniforms(name, draft):
    sides = set()
    for instance in vectors(named(name), draft=scheme(draft))["instances"]:
        for call in instance["calls"]:
            assert len(call["uniforms"]) == len(call["choices"])
            assert call["tokens"][-1] == call["choices"][-1]["answer"]
            assert len(call["target_probs"]) == len(call["draft_tokens"]) + 1
            assert len(call["draft_probs"]) == len({*call["parents"]})
            if call["margin"] > 1e-12:
                for choice, u in zip(call["choices"], call["uniforms"], strict=True):
                    assert decided(choice, u) == choice["answer"]
                    sides.add(choice["answer"] if "accept" in choice else None)
    assert sides == {True, False, None}


def test_the_margin_is_the_distance_to_another_choice():
    calls = [call for instance in vectors(named("token"))["instances"] for call in instance["calls"]]
    for call in calls:
        cuts = []
        for choice, u in zip(call["choices"], call["uniforms"], strict=True):
            if "accept" in choice:
                cuts += [abs(u - float(exact(choice["accept"])))] * (choice["accept"] != "0")
            else:
                row = [exact(mass) for mass in choice["choose"]]
                sums = {sum(row[: end + 1], fmpq(0)) for end in range(len(row))}
                cuts += [abs(u - float(end)) for end in sums if 0 < end < 1]
        assert call["margin"] == pytest.approx(min([1, *cuts]), abs=1e-15)


def test_random_calls_depend_on_the_seed_alone():
    assert vectors(named("token"), seed=1) == vectors(named("token"), seed=1)
    assert vectors(named("token"), seed=1) != vectors(named("token"), seed=2)


def test_drafts_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="block is made for chain"):
        vectors(named("block"), draft=scheme("tree:2x2"))


def test_the_command_writes_a_file_whole(tmp_path, capsys):
    assert command.main(["token", "--output", str(tmp_path / "token.json")], standalone_mode=False) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "token.json").read_text()) == vectors(named("token"))
