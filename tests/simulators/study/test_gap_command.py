"""`draftproof gap` as users and scripts meet it."""

import json

import pytest

from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import VERIFIERS, block
from tests.mutants.edits import edited
from tests.mutants.rules import BEYOND
from tests.problems import VECTORS


def test_the_answer_is_as_promised(command, toy):
    status, out, err = command("gap", toy, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer.keys() == {"expected_accepted", "optimum", "certificates"}
    assert answer["expected_accepted"].keys() == {v.name for v in VERIFIERS.values() if "chain" in v.drafts}
    assert answer["expected_accepted"]["token"] == "10/9"
    optimum, certificates = answer["optimum"], answer["certificates"]
    assert optimum["full_information"] == "4/3"
    assert certificates["full_information"] == {"primal": "4/3", "dual": "4/3"}
    assert optimum["stateless"] == "11/9"
    assert certificates["stateless"] == {"lower": "11/9", "upper": "11/9"}
    assert "hsd-released" in certificates["above_stateless"]
    assert "greedy-block" not in certificates["above_stateless"]


def test_the_answer_is_an_interval_where_no_simple_rule_is_best(command, tmp_path):
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(document(Randoms(Chain(3), 3, 2)[1])), encoding="utf-8")
    answer = json.loads(command("gap", path, "--verifier", "block", "--json")[1])
    optimum, bounds = answer["optimum"], answer["certificates"]["stateless"]
    best = exact(answer["expected_accepted"]["block"])
    assert optimum["stateless"] == pytest.approx(float(best), abs=optimum["stateless_error"] + 1e-12)
    assert 0 < optimum["stateless_error"] < 1e-9
    assert exact(bounds["lower"]) <= best <= exact(bounds["upper"])


def test_a_broken_verifier_is_run(command, toy, monkeypatch):
    broken = edited(block, ("share(w[-1] * p[x], q[x])", "share(w[-1] * q[x], p[x])"))
    monkeypatch.setitem(VERIFIERS, "block", broken)
    answer = json.loads(command("gap", toy, "--verifier", "block", "--json")[1])
    assert answer["expected_accepted"]["block"] not in ("11/9", "0")
    monkeypatch.setitem(VERIFIERS, "token", BEYOND)
    answer = json.loads(command("gap", toy, "--verifier", "token", "--json")[1])
    assert answer["expected_accepted"]["token"] == "0"
    assert "has a negative entry" in answer["invalid"]["token"]
    assert "the row returned" in command("gap", toy, "--verifier", "token")[1]


def test_an_exact_optimum_is_a_string(command, tmp_path):
    path = tmp_path / "apart.json"
    path.write_text(json.dumps(document(scenario("one-hot both, apart", Chain(2)))), encoding="utf-8")
    optimum = json.loads(command("gap", path, "--json")[1])["optimum"]
    assert optimum == {"full_information": "0", "stateless": "0"}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(command, tmp_path, name):
    path = tmp_path / "vector.json"
    path.write_text(json.dumps(VECTORS[name]["instance"]), encoding="utf-8")
    answer = json.loads(command("gap", path, "--json")[1])
    for optimum, wanted in VECTORS[name].get("optimum", {}).items():
        assert float(exact(str(answer["optimum"][optimum]))) == pytest.approx(wanted, abs=1e-8)
    for verifier, expected in VECTORS[name]["expected"].items():
        if verifier in answer["expected_accepted"]:
            assert answer["expected_accepted"][verifier] == expected["expected_accepted"]


def test_the_table_flags_and_explains(command, toy):
    status, out, _ = command("gap", toy)
    assert status == 0
    assert "E[tau]" in out
    (line,) = [line for line in out.splitlines() if " hsd-released" in line]
    assert "lossy: above the valid optimum" in line
    (line,) = [line for line in out.splitlines() if " greedy-block" in line]
    assert "keeps state" in line
    assert "A verifier that keeps state" in out


def test_force_shows_a_verifier_on_a_draft_it_is_not_made_for(command, tmp_path):
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(VECTORS["pair-v3-without"]["instance"]), encoding="utf-8")
    assert command("gap", path, "--verifier", "specinfer")[0] == 2
    status, out, _ = command("gap", path, "--verifier", "specinfer", "--force", "--json")
    assert (status, list(json.loads(out)["expected_accepted"])) == (0, ["specinfer"])


def test_without_an_instance_it_is_a_toy_on_three_drafts(command):
    status, out, err = command("gap", "--verifier", "traversal")
    assert (status, err) == (0, "")
    assert out.count("traversal") == 3
    status, out, _ = command("gap", "--verifier", "specinfer", "--verifier", "block", "--json")
    (toy,) = [each for each in json.loads(out)["toys"] if "block" in each["expected_accepted"]]
    assert toy["instance"] == "toy, chain depth 3 V=3"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.json"], "nothing.json: no such file"),
        (["{toy}", "--verifier", "blok"], "no verifier is named 'blok'"),
        (["{toy}", "--verifier", "spechub"], "spechub is made for spechub"),
        (["{toy}", "--draft", "chain:2"], "--draft goes without an instance"),
        (["--draft", "{"], "draft: not JSON"),
        (["--draft", '{"kind": "chain", "depth": 0}'], "draft: depth must be"),
        (["--verifier", "typical", "--verifier", "spechub"], "not for chain, tree without replacement"),
        (["--draft", "chain:2", "--verifier", "spechub"], "spechub is made for spechub, not for chain"),
        (["--force"], "--force goes with an instance"),
        (["--count", "0"], "--count"),
        (["--count", "2"], "--count goes with --rows"),
    ],
)
def test_bad_input_is_one_line_and_status_2(command, toy, arguments, said):
    status, out, err = command("gap", *(each.replace("{toy}", str(toy)) for each in arguments))
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
