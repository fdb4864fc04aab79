"""Batches as users meet them: files, answers, exit statuses, one-line errors."""

import json
from pathlib import Path

import pytest

from draftproof.simulators.instances.batches import WITNESSES, witness
from draftproof.simulators.instances.files import document, read, read_any
from draftproof.theory.errors import BadInput
from draftproof.theory.selection import RULES

DOCS = Path(__file__).parents[3] / "docs"
TETRIS = DOCS / "tetris.json"


@pytest.mark.parametrize("name", WITNESSES)
def test_the_files_of_the_page_are_the_witnesses(name):
    assert read_any(DOCS / f"{name}.json") == witness(name)


@pytest.mark.parametrize("name", WITNESSES)
def test_a_batch_is_read_as_it_was_written(name, tmp_path):
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(document(witness(name))), encoding="utf-8")
    assert read_any(path) == witness(name)


def test_the_page_has_every_rule():
    page = (DOCS / "selection.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{rule.name}` |")]
        assert ("lost" in line) == (not rule.predictable)


def test_law_of_a_batch(command):
    status, out, err = command("law", TETRIS, "--verifier", "token", "--json")
    assert (status, err) == (1, "")
    assert json.loads(out) == {
        "verifier": "token",
        "lossless": False,
        "total_variation": "1/6",
        "expected_accepted": "2/3",
        "law": {
            "1 | 0": "1/4",
            "1 | 1": "1/12",
            "1 | 1 0": "1/4",
            "1 | 1 1": "1/4",
            "1 1 | 0": "1/12",
            "1 1 | 1": "1/12",
        },
        "selection": "tetris",
        "marginals": ["0", "1/6"],
    }


def test_check_of_batches_and_instances_together(command, toy):
    status, out, err = command("check", TETRIS, toy, "--verifier", "token", "--json")
    answer = json.loads(out)
    assert (status, err, answer["ok"], answer["instances"]) == (0, "", True, 2)
    (batch,) = [row for row in answer["results"] if "selection" in row]
    assert (batch["selection"], batch["lossless"], batch["declared"]) == ("tetris", False, False)
    assert [row.get("selection") for row in answer["summary"]] == [None, "tetris"]
    status, out, _ = command("check", TETRIS, toy, "--verifier", "token")
    assert status == 0
    assert "tetris with token is not lossless on" in out
    assert "Selection rules" in out
    assert "Verdicts by exact enumeration" in out


def test_check_refuses_a_rule_that_is_not_as_declared(command, monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(RULES, "tetris", replace(RULES["tetris"], predictable=True))
    status, out, _ = command("check", TETRIS, "--verifier", "token", "--jobs", 1)
    assert status == 1
    assert "drafted token 1 of request 1 is read before it is revealed" in out
    assert "NOT every verdict is as declared" in out


def test_gap_is_of_one_instance(command):
    status, out, err = command("gap", TETRIS, "--json")
    assert (status, out) == (2, "")
    assert "holds a batch of requests, and one instance is needed" in err


FAULTS = {
    "capacity": (
        {"selection": {"rule": "all", "capacity": -1}},
        "capacity must be a whole number from 0, not -1",
    ),
    "rule": (
        {"selection": {"rule": "tetriss", "capacity": 1}},
        "selection: no selection rule is named 'tetriss'",
    ),
    "a rule of another kind": ({"selection": {"rule": [], "capacity": 1}}, "no selection rule is named []"),
    "no capacity": ({"selection": {"rule": "all"}}, "selection: capacity is missing"),
    "extra": ({"selection": {"rule": "all", "capacity": 1, "extra": 1}}, "selection: unknown key 'extra'"),
    "selection": ({"selection": "all"}, "selection: must be an object"),
    "speed": ({"selection": {"rule": "all", "capacity": 1, "speed": "fast"}}, "speed must be a list"),
    "short speed": ({"selection": {"rule": "all", "capacity": 1, "speed": [1]}}, "speed needs 2 numbers"),
    "no number": ({"selection": {"rule": "all", "capacity": 1, "speed": ["x", 1]}}, "'x' is not a number"),
    "negative": (
        {"selection": {"rule": "all", "capacity": 1, "speed": [1, -1]}},
        "speed has a number below 0",
    ),
    "no requests": ({"requests": []}, "a batch has at least one request"),
    "requests": ({"requests": 3}, "requests: must be a list of instances"),
    "a request": ({"requests": [{"vocab": 2}]}, "request 1: the instance: draft is missing"),
    "unknown": ({"processors": []}, "the batch: unknown key 'processors'"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("mode", [("check",), ("law", "--verifier", "token"), ("gap",)])
def test_faults_are_one_line(command, tmp_path, fault, mode):
    change, message = FAULTS[fault]
    path = tmp_path / "batch.json"
    path.write_text(json.dumps({**document(witness("tetris")), **change}), encoding="utf-8")
    status, out, err = command(mode[0], path, *mode[1:])
    assert (status, out) == (2, "")
    assert err.startswith(f"draftproof: {path}: ")
    assert err.count("\n") == 1
    assert message in err


def test_what_a_batch_cannot_be_used_for(command):
    for verifier in ("spechub", "greedy-block"):
        for mode in ("law", "check"):
            status, _, err = command(mode, TETRIS, "--verifier", verifier)
            assert status == 2
            assert err.count("\n") == 1
            assert verifier in err
    status, _, err = command("law", TETRIS, "--verifier", "token", "--iterations", 2)
    assert status == 2
    assert "--iterations goes with one instance" in err
    with pytest.raises(BadInput, match="holds a batch of requests, and one instance is needed"):
        read(TETRIS)
