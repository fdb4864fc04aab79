"""A user's verifiers and drafts go through every command that the project's own go through."""

import inspect
import json
import pickle
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators.instances.files import document, draft_of, read
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.user_code import named
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import VERIFIERS

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = re.search(r"```pycon\n(.*?)```", (DOCS / "write.md").read_text(), re.S)[1]
FORM = "\n".join(line[4:] for line in WRITTEN.splitlines())  # of docs/write.md: a Verifier called `mine`
TUTORIAL = (DOCS / "tutorial/your-verifier.md").read_text()
PLAIN, BROKEN = re.findall(r'```python title="(?:mine|broken).py"\n(.*?)```', TUTORIAL, re.S)
RULES = """
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.rows import excess, normalise, share, without
from draftproof.theory.verifier import PATHS, TREES, Verifier

print("imported")
pair = Tree(((), ()), replacement=True)

def siblings(oracle, draft, target):  # recursive rejection, without replacement
    node = draft.root
    while node.children:
        p, q = target[node.prefix], node.proposal
        for child in node.children:
            if oracle.accept(share(p[child.token], q[child.token])):
                node = child
                break
            p, q = normalise(excess(p, q)), without(q, child.token)
        else:
            return node, p
    return node, target[node.prefix]

on_trees = Verifier("on_trees", "", TREES[1:], True, siblings)
wrong = Verifier("wrong", "", TREES[:1], True, siblings)  # q is not renormalised with replacement

def on_paths(target, draft, rng):  # naive verification of several paths, on floats
    node, tokens = draft.root, []
    while node is not None:
        tokens.append(int(rng.choice(len(target[node.prefix]), p=target[node.prefix])))
        node = node.child(tokens[-1])
    return tokens

class Second:
    label, depth = "second", 1
    def draw(self, oracle, proposal, context=()):
        return proposal.none
    def outcomes(self, support):
        return 1
"""
FILES = {"form.py": FORM, "plain.py": PLAIN, "broken.py": BROKEN, "rules.py": RULES}
GIVEN = {
    "form.py:mine": Chain(2),
    "form.py:verify": Chain(2),
    "plain.py:verify": Chain(2),
    "rules.py:on_trees": Tree(((), ())),
    "rules.py:on_paths": Paths(2, 1),
}
"""A verifier of each form: the tutorials', on trees, on several paths."""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The folder of the user's files, with an instance for each draft."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)

    def instance(draft) -> Path:
        path = tmp_path / "given.json"
        path.write_text(json.dumps(document(scenario("toy", draft, 2))))
        return path

    return instance


@pytest.mark.parametrize(("name", "draft"), GIVEN.items(), ids=GIVEN)
def test_every_command_takes_it(own, command, name, draft):
    given = own(draft)
    status, out, _ = command("law", given, "--verifier", name, "--json")
    assert (status, json.loads(out)["lossless"]) == (0, True)
    status, out, _ = command("check", given, "--verifier", name, "--json")
    assert (status, json.loads(out)["results"][0]["verifier"]) == (0, name)
    status, out, _ = command("gap", given, "--verifier", name, "--json")
    assert 0 < float(eval(json.loads(out)["expected_accepted"][name])) <= 11 / 9 + 1e-9
    assert pickle.loads(pickle.dumps(named(name))) is named(name)


@pytest.mark.parametrize("name", ["broken.py:verify", "rules.py:wrong"])
def test_a_wrong_one_is_lossy(own, command, name):
    given = own(Chain(2) if name.startswith("broken") else Tree(((), ()), True))
    status, out, _ = command("check", given, "--verifier", name, "--json")
    assert (status, json.loads(out)["results"][0]["lossless"]) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["form.py:mine", "--depth", "1"], 0, "proved"),
        (["form.py:mine", "--every-size"], 0, "proved"),
        (["rules.py:wrong", "--draft", "rules.py:pair"], 1, "refuted"),
        pytest.param(
            ["plain.py:verify", "--depth", "1", "--seconds", "5"],
            3,
            "cannot be run on rational functions",
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_it_is_proved_or_said_why_not(own, command, arguments, status, says):
    found, out, _ = command("prove", *arguments)
    assert found == status
    assert says in out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mine", "no verifier is named 'mine'; there are block, "),
        ("none.py:verify", "none.py: no such file"),
        ("rules.py:none", "rules.py: has no 'none'"),
        ("rules.py:pair", "rules.py:pair: is no verifier, but a Tree"),
        ("os.path:join", "os.path:join: not audited"),
        ("broken", "no verifier is named 'broken'"),
    ],
)
def test_what_is_none_is_one_line(own, command, name, says):
    status, out, err = command("gap", own(Chain(1)), "--verifier", name)
    last = err.splitlines()[-1]
    assert (status, out, last.startswith("draftproof: ")) == (2, "", True)
    assert says in last


def test_rounding_is_no_bias(own, command):
    given = own(Chain(1))
    for name, lossless in (("plain.py:verify", True), ("broken.py:verify", False)):
        status, out, _ = command("law", given, "--verifier", name, "--iterations", "2", "--json")
        assert (status, json.loads(out)["lossless"]) == (int(not lossless), lossless)
        found = dp.check(scenario("holes in both", Chain(2), 3), name)
        assert (found.lossless, bool(found.total_variation)) == (lossless, True)
        assert found.wrong is None or float(abs(found.wrong.got - found.wrong.want)) > 1e-3
    assert list(dp.gap(read(given), "plain.py:verify").expected_accepted) == ["plain.py:verify"]
    assert command("check", given, "--verifier", "plain.py:verify", "--against", "target")[0] == 0


def test_a_slow_one_is_not_run_on_the_whole_suite(own, command):
    status, _, err = command("check", "--verifier", "plain.py:verify")
    assert status == 2
    assert "name instances, or: draftproof audit plain.py:verify" in err


DRAWN = {"chain": "chain:2", "paths": "paths:2x1", "tree with replacement": "tree+:2x1", "top-k": "top-k:2x1"}
DRAWN |= {"tree without replacement": "tree:2x1", "greedy": "greedy:2x1", "stratified": "strata:2x1"}


@pytest.mark.parametrize("name", VERIFIERS)
def test_a_rule_of_the_project_as_a_user_s_file_has_the_same_verdict(name, tmp_path):
    """What is asked of users' rules, that a run repeats and returns rationals, refuses none that is right."""
    rule = VERIFIERS[name]
    copy = tmp_path / "copied.py"
    copy.write_text(inspect.getsource(import_module(rule.verify.__module__)))
    for label in set(rule.drafts) & DRAWN.keys():
        instance = scenario("toy", scheme(DRAWN[label]), 3)
        a, b = judge(instance, rule), judge(instance, named(f"{copy}:VERIFIER"))
        assert (a.lossless, a.total_variation) == (b.lossless, b.total_variation)
        assert a.expected_accepted == b.expected_accepted


def test_an_edited_file_is_loaded_again(own):
    before = named("plain.py:verify")
    assert named("plain.py:verify") is before
    Path("plain.py").write_text(BROKEN)
    assert named("plain.py:verify") is not before


def test_an_own_draft_is_an_instance_s_draft(own, command):
    given = own(draft_of("rules.py:pair"))
    assert json.loads(given.read_text())["draft"] == "rules.py:pair"
    rules = ["--verifier", "specinfer", "--verifier", "rules.py:on_paths", "--json"]
    mine = command("gap", given, *rules)[:2]
    assert mine == command("gap", own(Tree(((), ()), replacement=True)), *rules)[:2]
    assert mine[0] == 0
    with pytest.raises(BadInput, match="is no drafting scheme: it has no label, depth, draw"):
        draft_of("form.py:verify")
    status, _, err = command("law", own(draft_of("rules.py:Second")), "--verifier", "token", "--force")
    assert status == 2
    assert "rules.py:Second: draw raises AttributeError" in err


SWEPT = """
[[family]]
metrics = ["check", "gap"]
verifiers = ["form.py:mine", "plain.py:verify", "broken.py:verify", "token"]
rows = {kind = "random", count = 3}

[[family]]
metrics = ["check", "gap"]
drafts = ["tree:2x1", "rules.py:pair", "paths:2x1"]
verifiers = ["rules.py:on_trees", "rules.py:on_paths"]
rows = {kind = "random", count = 3}
"""


def verdicts(out: str) -> dict[str, Counter]:
    """Verifier -> its verdicts in the summary of a sweep, over all kinds of draft."""
    found: dict[str, Counter] = {}
    for line in json.loads(out)["summary"]:
        if line["metric"] == "check":
            found.setdefault(line["name"], Counter()).update(line["verdicts"])
    return found


def test_a_sweep_and_what_figures_and_pages_are_made_from(own, command):
    pytest.importorskip("duckdb")
    from draftproof.simulators.study.report.sections import sections
    from draftproof.simulators.study.results import Results

    Path("own.toml").write_text(SWEPT)
    status, out, _ = command("sweep", "own.toml", "--workers", "1", "--json")
    assert status == 0
    found = verdicts(out)
    assert found["plain.py:verify"] == found["form.py:mine"] == {"lossless": 3}
    assert found["broken.py:verify"]["lossy"] > 0
    assert found["rules.py:on_paths"] == {"lossless": 9}
    data = sections(Results("results/own"))
    assert {row["verifier"] for row in data["verdicts"]} == found.keys()
    assert "rules.py:pair" in json.dumps(data["gaps"])

    Path("broken.py").write_text(PLAIN)
    status, out, err = command("sweep", "own.toml", "--workers", "1", "--json")
    assert (status, out) == (2, "")
    assert "results/own: holds results of another state of broken.py:verify; name another folder" in err
    for name in FILES:  # what was computed is shown without the code
        Path(name).unlink() if name != "rules.py" else None
    assert {row["verifier"] for row in sections(Results("results/own"))["verdicts"]} == found.keys()


SELDOM = """
import numpy as np

def verify(p, q, x, rng):
    if rng.random() < 2**-21:
        raise ValueError("seldom")
    row = p[0] + {} * (np.arange(len(p[0])) == 0) - {} * (np.arange(len(p[0])) == 1)
    return [int(rng.choice(len(row), p=row))]
"""


@pytest.mark.parametrize("bias", [0.0, 2**-19])
def test_runs_that_raise_widen_the_bound_and_move_no_mass(own, bias):
    Path("seldom.py").write_text(SELDOM.format(bias, bias))
    given, rule = scenario("toy", Chain(1), 2), named("seldom.py:verify")
    found = dp.check(given, rule)
    assert found.lossless == (not bias)
    assert float(found.total_variation) == pytest.approx(bias, rel=1e-6, abs=1e-15)
    plain = rule.rounding(scenario("toy", Chain(1), 2), 1)  # another target, on which nothing raised
    assert float(rule.rounding(given, 1) - plain) == 2**-21


FAULTY = """
import random
import numpy as np

def coin(oracle, draft, target):  # its row depends on a coin that the oracle does not know
    return draft.root, target[()] if random.random() < 1 / 2 else draft.root.proposal

def question(oracle, draft, target):  # how often it asks does
    while random.random() < 1 / 2:
        oracle.accept(target[()][0])
    return draft.root, target[()]

def token(oracle, draft, target):  # the oracle is asked for a row that does
    row = target[()] if np.random.default_rng().random() < 1 / 2 else draft.root.proposal
    return draft.root, tuple(target[()][0] * 0 + (x == oracle.choose(row)) for x in range(len(row)))

def raises(oracle, draft, target):
    if random.random() < 1 / 2:
        raise ValueError
    return draft.root, target[()]

calls = []
def counts(oracle, draft, target):
    calls.append(1)
    return draft.root, target[()] if len(calls) % 2 else draft.root.proposal

def nothing(oracle, draft, target): pass
def row_alone(oracle, draft, target): return target[()]
def number(oracle, draft, target): return 0.5
def floats(oracle, draft, target): return draft.root, tuple(map(float, (1 / 2, 1 / 2)))
def short(oracle, draft, target): return draft.root, target[()][:1]
def float_coin(oracle, draft, target): return draft.root, target[()] if oracle.accept(0.5) else target[()]
"""

OUTSIDE = "draws outside the oracle"
FAULTS = {
    **dict.fromkeys(("coin", "question", "token", "raises", "counts"), OUTSIDE),
    **dict.fromkeys(("nothing", "row_alone", "number"), "and not a node of the draft and a row"),
    "floats": "returned a row with a float",
    "short": "no row of 2 rationals",
    "float_coin": "cannot be run on rationals",
}


@pytest.mark.parametrize(("name", "said"), FAULTS.items())
@pytest.mark.parametrize("name_of_command", ["law", "check", "gap"])
def test_own_verifiers_that_cannot_be_enumerated_are_refused(own, command, name_of_command, name, said):
    given = own(Chain(2))
    Path("faulty.py").write_text(FAULTY)
    status, out, shown = command(name_of_command, given, "--verifier", f"faulty.py:{name}")
    assert (status, out) == (2, "")
    assert said in shown
    assert len(shown.splitlines()) == 1
