"""Enumerations are estimated before they begin: left out or refused."""

import json

import pytest

from draftproof.simulators.commands.check import check
from draftproof.simulators.commands.gap import gap
from draftproof.simulators.commands.law import law
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.laws.enumerate import iteration
from draftproof.simulators.laws.size import size
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named

HALF, ONE_HOT = ["1/2", "1/2"], ["1", "0"]


@pytest.mark.parametrize("draft", ["chain:3", "tree:2x1"])
@pytest.mark.parametrize("name", ["uniform target", "toy", "one-hot proposal"])
def test_the_estimate_is_near_the_number_of_runs(draft, name):
    instance, rule = scenario(name, scheme(draft), 3), named("traversal")
    runs = sum(1 for _ in iteration(instance.draft, instance.proposal, rule, instance.target, start=ONE))
    assert runs / 2 < size(instance, rule) < 2 * runs
    assert name in SCENARIOS


@pytest.fixture
def deep(tmp_path):
    path = tmp_path / "deep.json"
    rows = {"target": {"": HALF}, "proposal": {"": ONE_HOT}}
    path.write_text(json.dumps({"vocab": 2, **rows, "draft": {"kind": "chain", "depth": 40}}))
    return str(path)


def test_a_joint_law_that_is_too_large_is_refused(deep):
    with pytest.raises(BadInput, match="greedy-block needs the joint law of several calls: the target has"):
        law.main([deep, "--verifier", "greedy-block"], standalone_mode=False)
    with pytest.raises(BadInput, match="greedy-block needs the joint law"):
        check.main([deep, "--verifier", "greedy-block"], standalone_mode=False)
    with pytest.raises(BadInput, match="more than 250,000 words"):
        gap.main([deep], standalone_mode=False)


def test_what_is_too_large_is_left_out_where_nothing_was_named(deep, capsys, monkeypatch):
    few = {name: named(name) for name in ("token", "greedy-block", "sampling-match")}
    monkeypatch.setattr("draftproof.simulators.commands.check.VERIFIERS", few)
    assert check.main([deep, "--json"], standalone_mode=False) == 0
    out, err = capsys.readouterr()
    assert {row["verifier"] for row in json.loads(out)["results"]} == {"token"}
    assert "left out" in err
    assert "sampling-match has about 1.1e+12 runs" in err


@pytest.mark.parametrize("name", ["lifted", "layered", "traversal"])
def test_drafts_may_be_deeper_than_pythons_calls(name):
    instance = context_free(HALF, ONE_HOT, Chain(100))
    assert judge(instance, named(name)).lossless


def test_a_table_of_one_word_has_a_law_of_any_length():
    table = Table.exact(2, {(): ONE_HOT})
    assert judge(context_free(["1", "0"], ["1", "0"], Chain(200)), named("greedy-block")).lossless
    assert table.vocab == 2
