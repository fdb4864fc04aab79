"""Processed rows have the values that were computed by hand; verification of processed rows is lossless."""

import json
import pickle
from pathlib import Path

import pytest
from flint import fmpq

from draftproof.simulators.instances.files import document, parse
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.errors import BadInput
from draftproof.theory.law import law_of
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from draftproof.theory.targets.processors import PROCESSORS, Mask, Processed
from draftproof.theory.verifiers import VERIFIERS

GRAMMAR = {"start": "a", "edges": {"a": {"0": "a", "1": "b"}, "b": {"2": "a"}}}
TABLE = Table.exact(3, {(): ["1/2", "1/3", "1/6"]})


def row(text):
    return tuple(map(exact, text.split()))


def instance(*processors, draft="chain:2"):
    return {
        "vocab": 3,
        "target": {"": ["1/2", "1/4", "1/4"], "1": ["1/6", "1/3", "1/2"]},
        "proposal": {"": ["1/3", "1/3", "1/3"], "0": ["1/8", "3/8", "1/2"]},
        "draft": draft,
        "processors": list(processors),
    }


CASES = [
    ("mask", GRAMMAR, (), "3/5 2/5 0"),
    ("mask", GRAMMAR, (0, 1), "0 0 1"),
    ("mask", GRAMMAR, (2,), "1/2 1/3 1/6"),  # not in the language: never reached
    ("frequency", {"factor": "1/2"}, (0, 0), "1/5 8/15 4/15"),
    ("presence", {"factor": "1/2"}, (0, 0), "1/3 4/9 2/9"),
    ("repetition", {"penalty": 2}, (0,), "1/3 4/9 2/9"),
    ("bias", {"factors": {"2": 3}}, (), "3/8 1/4 3/8"),
    ("min-p", {"share": "2/3"}, (), "3/5 2/5 0"),
    ("min-p", {"share": "7/10"}, (), "1 0 0"),
    ("top-k", {"count": 2}, (), "3/5 2/5 0"),
    ("top-p", {"mass": "1/2"}, (), "1 0 0"),
    ("top-p", {"mass": "3/4"}, (), "3/5 2/5 0"),
    ("temperature", {"temperature": 1}, (), "1/2 1/3 1/6"),
    ("temperature", {"temperature": "1/2"}, (), "9/14 2/7 1/14"),
    ("temperature", {"temperature": 0}, (), "1 0 0"),
]


@pytest.mark.parametrize(("kind", "options", "prefix", "expected"), CASES)
def test_a_row(kind, options, prefix, expected):
    table = Processed(TABLE, (PROCESSORS[kind](**options),))
    assert table[prefix] == row(expected)
    assert sum(table[prefix], fmpq(0)) == 1


def test_every_processor_has_a_case():
    assert {kind for kind, *_ in CASES} == set(PROCESSORS)


def test_processors_are_applied_in_order():
    first, second = PROCESSORS["top-k"](count=1), PROCESSORS["bias"](factors={"1": 4})
    assert Processed(TABLE, (first, second))[()] == row("1 0 0")
    assert Processed(TABLE, (second, first))[()] == row("0 1 0")


def test_drafted_tokens_are_history():
    read = parse(json.dumps(instance({"kind": "presence", "factor": "1/2", "on": "target"})))
    assert read.target[()] == row("1/2 1/4 1/4")
    assert read.target[(0,)] == row("1/3 1/3 1/3")
    assert read.proposal[(0,)] == row("1/8 3/8 1/2")


SETS = {
    "mask on the target": [{"kind": "mask", "on": "target", **GRAMMAR}],
    "mask on both": [{"kind": "mask", **GRAMMAR}],
    "penalties on both": [{"kind": "frequency", "factor": "1/2"}, {"kind": "repetition", "penalty": 2}],
    "filters on the target": [{"kind": "top-p", "mass": "4/5", "on": "target"}],
    "temperature on the target": [{"kind": "temperature", "temperature": "1/2", "on": "target"}],
    "temperature on both": [{"kind": "temperature", "temperature": "1/3"}],
    "mixed": [{"kind": "presence", "factor": 3, "on": "proposal"}, {"kind": "top-k", "count": 2}],
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("draft", ["chain:2", "tree:2x1", "tree+:2x1", "paths:2x2"])
def test_kept_drafts_are_verified_exactly(name, draft):
    read = parse(json.dumps(instance(*SETS[name], draft=draft)))
    for verifier in VERIFIERS.values():
        if verifier.lossless and read.draft.label in verifier.drafts and verifier.carry is None:
            assert judge(read, verifier).lossless, verifier.name


def test_a_row_processed_without_the_drafted_prefix_is_biased():
    """The target's rows with no token in their history: another law than the one asked for."""
    right = parse(json.dumps(instance({"kind": "presence", "factor": "1/2", "on": "target"})))
    stale = parse(json.dumps(instance()))
    assert right.target[()] == stale.target[()]
    assert right.target[(0,)] != stale.target[(0,)]


def test_a_file_is_written_as_it_is_read():
    for steps in SETS.values():
        read = parse(json.dumps(instance(*steps)))
        again = parse(json.dumps(document(read)))
        assert (again.target, again.proposal) == (read.target, read.proposal)
        assert pickle.loads(pickle.dumps(read)).target == read.target
    assert parse(json.dumps(instance())).target != parse(json.dumps(instance(*SETS["mask on both"]))).target


FAULTS = {
    "dead end": (
        {"kind": "mask", "start": "a", "edges": {"a": {"0": "b"}, "b": {}}},
        "state 'b' has no way out",
    ),
    "no such state": (
        {"kind": "mask", "start": "x", "edges": {"a": {"0": "a"}}},
        "state 'x' is not in edges",
    ),
    "edges": ({"kind": "mask", "start": "a", "edges": []}, "edges must be an object"),
    "kind": ({"kind": "top_k", "count": 1}, "processor 1: kind 'top_k' is not one of mask"),
    "missing": ({"kind": "top-k"}, "processor 1 of kind 'top-k': count is missing"),
    "extra": ({"kind": "top-k", "count": 1, "p": 2}, "unknown key 'p'"),
    "on": ({"kind": "top-k", "count": 1, "on": "draft"}, "on must be target, proposal or both"),
    "zero": ({"kind": "top-k", "count": 0}, "count must be a whole number from 1"),
    "factor": ({"kind": "presence", "factor": 0}, "factor must be above 0"),
    "bias": ({"kind": "bias", "factors": {"0": -1}}, "a factor must be above 0"),
    "no factors": ({"kind": "bias", "factors": 3}, "factors must be an object"),
    "nothing left": (
        {"kind": "mask", "start": "a", "edges": {"a": {"7": "a"}}},
        "mask leaves nothing of the row after ''",
    ),
    "a root": ({"kind": "temperature", "temperature": "3/2"}, "temperature '3/2' has no rational rows"),
    "above one": ({"kind": "temperature", "temperature": 2}, "exact are 0, 1, 1/2, 1/3"),
    "below zero": ({"kind": "temperature", "temperature": "-1/2"}, "has no rational rows"),
    "huge power": ({"kind": "temperature", "temperature": "1/1000000"}, "has no rational rows"),
    "min-p above one": ({"kind": "min-p", "share": 2}, "min-p leaves nothing of the row after ''"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    processor, message = FAULTS[fault]
    with pytest.raises(BadInput) as caught:
        parse(json.dumps(instance(processor)))
    assert message in str(caught.value)


def test_a_mask_leaves_its_edges_alone():
    assert Mask(**GRAMMAR) == Mask(**GRAMMAR)


BRACKETS = {
    "kind": "mask",
    "start": "0",
    "edges": {"0": {"0": "1", "2": "end"}, "1": {"1": "0"}, "end": {"2": "end"}},
    "whole": 4,
    "ends": ["end"],
}


def test_a_mask_with_a_whole_text_has_the_conditional_law():
    p = {"": ["1/2", "1/4", "1/4"], "0": ["1/6", "1/3", "1/2"], "1": ["3/5", "1/5", "1/5"]}
    given = parse(json.dumps({**instance(BRACKETS), "target": p}))
    plain = parse(json.dumps({**instance(), "target": p}))
    mask = Mask("0", BRACKETS["edges"])
    valid = {word: mass for word, mass in law_of(plain.target, 4).items() if mask.state(word) == "end"}
    whole = sum(valid.values(), fmpq(0))
    assert dict(law_of(given.target, 4)) == {word: mass / whole for word, mass in valid.items()}
    for verifier in ("token", "block"):
        assert judge(given, VERIFIERS[verifier]).lossless
    assert parse(json.dumps(document(given))) == given


def test_the_command_names_the_law_that_it_judges(command, tmp_path):
    file = Path(__file__).parents[3] / "docs" / "grammar.json"
    whole = json.loads(file.read_text(encoding="utf-8"))
    whole["processors"][0]["whole"] = 6
    (tmp_path / "whole.json").write_text(json.dumps(whole), encoding="utf-8")
    for path, law in (
        (file, "locally projected law"),
        (tmp_path / "whole.json", "law given a valid text of 6 tokens"),
    ):
        status, out, _ = command("law", path, "--verifier", "token", "--iterations", 3)
        assert (status, f"judged against the {law}" in out) == (0, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"whole": 0}, "whole must be a whole number from 1 to 1000"),
        ({"ends": "end"}, "ends must be a list"),
        ({"ends": ["nowhere"]}, "state 'nowhere' is not in edges"),
        ({"start": "end", "ends": ["0"]}, "mask leaves nothing of the row after ''"),
    ],
)
def test_a_wrong_whole_text_is_bad_input(change, said):
    with pytest.raises(BadInput, match=said):
        parse(json.dumps(instance({**BRACKETS, **change})))
