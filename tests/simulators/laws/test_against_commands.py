"""`check --against`, also of foreign rules: answers, exit statuses, one-line refusals."""

import json
from fractions import Fraction

import pytest

RULES = """
import numpy as np


def mixture(p, q, x, rng, a=0.25, bonus=True):
    for i, t in enumerate(x):
        pi = (1 - a) * p[i] + a * q[i]
        if not rng.random() < pi[t] / q[i, t]:
            r = np.maximum(pi - q[i], 0)
            return [*x[:i], int(rng.choice(len(r), p=r / r.sum()))]
    return [*x, int(rng.choice(len(p[0]), p=p[-1]))] if bonus else [*x]


def stronger(p, q, x, rng):
    return mixture(p, q, x, rng, a=0.3)


def without_extra(p, q, x, rng):
    return mixture(p, q, x, rng, bonus=False)


def cactus(p, q, x, rng, delta=0.05):
    for i, t in enumerate(x):
        h = min(1.0, p[i, t] + np.sqrt(2 * delta * p[i, t] * (1 - p[i, t])))
        row = p[i] * ((1 - h) / (1 - p[i, t]) if p[i, t] < 1 else 0)
        row[t] = h
        if not rng.random() < h / q[i, t]:
            r = np.maximum(row - q[i], 0)
            return [*x[:i], int(rng.choice(len(r), p=r / r.sum()))]
    return [*x, int(rng.choice(len(p[0]), p=p[-1]))]
"""
DISTANCES = {"total_variation", "kl_emitted_target", "kl_target_emitted", "kl_error"}


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 0),
        (["--verifier", "interpolation:1/3"], 0),
        (["--verifier", "interpolation:1/4"], 1),
        (["--verifier", "token"], 1),
    ],
)
def test_a_declared_law_is_met_or_missed(command, toy, options, status):
    found, out, err = command("check", toy, "--against", "interpolation:1/3", *options)
    assert (found, err) == (status, "")
    assert ("misses interpolation:1/3 on" in out) == bool(status)
    assert ("NOT every verdict" in out) == bool(status)


def test_the_answer_has_distances(command, tmp_path):
    path = tmp_path / "apart.json"
    rows = {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": [0, 1]}, "draft": "chain:1"}
    path.write_text(json.dumps(rows), encoding="utf-8")
    status, out, _ = command("check", path, "--against", "cactus:1/100", "--json")
    answer = json.loads(out)
    (result,) = answer["results"]
    assert status == 1
    assert answer["ok"] is False
    assert (result["met"], result["over_budget"], result["budget"]) == (False, True, "KL(emitted, target)")
    assert result["against"] == "cactus:1/100"
    assert result["token"].keys() == result["text"].keys() == DISTANCES
    assert result["token"]["kl_emitted_target"] > 0.01
    (summary,) = answer["summary"]
    assert summary["text"] == result["text"]


def test_an_infinite_divergence_is_a_word(command, tmp_path):
    path = tmp_path / "apart.json"
    rows = {"vocab": 2, "target": {"": [1, 0]}, "proposal": {"": [0, 1]}, "draft": "chain:1"}
    path.write_text(json.dumps(rows), encoding="utf-8")
    _, out, _ = command("check", path, "--against", "interpolation", "--json")
    (result,) = json.loads(out)["results"]
    assert result["token"]["kl_emitted_target"] == "infinite"


def test_rules_are_verifiers_of_check_and_law(command, toy):
    status, out, _ = command("law", toy, "--verifier", "interpolation:1/4", "--json")
    assert status == 1
    assert json.loads(out)["expected_accepted"] == "21/16"
    assert command("check", toy, "--verifier", "cactus")[0] == 0  # lossy, as declared


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--against", "nothing"], "no declared target is named 'nothing'"),
        (["--against", "interpolation:2"], "from 0 to 1"),
        (["--against", "own", "--verifier", "token"], "no declared target is named 'token'"),
        (["--against", "target", "--verifier", "greedy-block"], "keeps state"),
        (["--against", "target"], "needs --verifier"),
    ],
)
def test_bad_input_of_check(command, toy, arguments, part):
    status, out, err = command("check", toy, *arguments)
    assert (status, out) == (2, "")
    assert part in err
    assert err.count("\n") == 1


def test_a_batch_is_bad_input(command):
    status, _, err = command("check", "docs/tetris.json", "--against", "own")
    assert status == 2
    assert "a batch is judged against p" in err


@pytest.fixture
def apart(tmp_path):
    """Two instances: even rows with a sure proposal, and two tokens of three under both."""
    rows = (
        {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": ["1/4", "3/4"]}, "draft": "chain:1"},
        {"vocab": 2, "target": {"": ["1/2", "1/2"]}, "proposal": {"": ["1/10", "9/10"]}, "draft": "chain:2"},
    )
    paths = [tmp_path / f"{n}.json" for n in range(len(rows))]
    for path, each in zip(paths, rows, strict=True):
        path.write_text(json.dumps(each), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "rules.py"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "law", "status", "said"),
    [
        ("mixture", "interpolation:1/4", 0, "every verdict is as declared"),
        ("stronger", "interpolation:1/4", 1, "misses interpolation:1/4 on"),
        ("stronger", "target", 1, "misses target on"),
        ("cactus", "cactus:1/20", 1, "misses cactus:1/20 on"),
        ("cactus", "cactus:2", 0, "every verdict is as declared"),
    ],
)
@pytest.mark.sampled(3)
def test_a_foreign_rule(command, rules, apart, name, law, status, said):
    found, out, _ = command("check", *apart, "--verifier", f"{rules}:{name}", "--against", law)
    assert (found, said in " ".join(out.split())) == (status, True), out


def test_the_answer_on_a_foreign_rule(command, rules, apart):
    given = "--verifier", f"{rules}:mixture", "--against", "interpolation"
    status, out, _ = command("check", apart[0], *given, "--json")
    (answer,) = json.loads(out)["results"]
    assert (status, answer["lossless"], answer["met"], answer["over_budget"]) == (0, True, True, False)
    assert answer["against"] == "interpolation:1/4"
    assert abs(float(Fraction(answer["token"]["total_variation"])) - 1 / 16) < 1e-9
