"""E[tau] of whole trees from rows recorded at their nodes: what is measured is what was drawn."""

import json

import numpy as np
import pytest

from draftproof import commands
from draftproof.simulators.commands.entry import enter
from draftproof.theory.errors import BadInput

pytest.importorskip("torch", reason="the optimum in classes is planned by torch")

from studies.tree_designs.__main__ import main
from studies.tree_designs.designs import DESIGNS, Trees, drawn, measured, named
from tests.checks import assert_one_line
from tests.simulators.study.test_recorded import softmax

V = 9
TREES = "2x2", "[[[]],[]]", "6"


class Model(dict):
    """Rows by prefix, random but always the same; in the order in which they were asked for."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def both(self, prefix):
        rng = np.random.default_rng([self.text, *prefix])
        a, b = rng.normal(0, 2, (2, V))
        return softmax(np.array([a, a + b / 2])).astype(np.float32)

    def __missing__(self, prefix):
        row = self.both(prefix)[1].astype(float)
        self[prefix] = row / row.sum()
        return self[prefix]


def models(count=4):
    made = [Model(text) for text in range(count)]
    for number, model in enumerate(made):
        for _ in drawn(TREES, model, number):
            pass
    return made


def arrays(made):
    out = {name: [] for name in ("target", "proposal", "sequence", "parent", "token")}
    for model in made:
        first = len(out["parent"])
        number = {prefix: first + i for i, prefix in enumerate(model)}
        for prefix in model:
            p, q = model.both(prefix)
            row = p, q, model.text // 2, number[prefix[:-1]] if prefix else -1, prefix[-1] if prefix else -1
            for name, value in zip(out, row, strict=True):
                out[name].append(value)
    return {**{name: np.array(each) for name, each in out.items()}, "trees": np.array(TREES)}


@pytest.fixture(scope="module")
def whole():
    return arrays(models())


def written(path, given):
    np.savez(path, **given)
    return path


def test_what_is_measured_is_what_was_drawn(tmp_path, whole):
    found = measured(Trees(written(tmp_path / "rows.npz", whole)))
    wanted = []
    for number, model in enumerate(models()):
        p = {prefix: model.both(prefix)[0].astype(float) for prefix in model}
        p = {prefix: row / row.sum() for prefix, row in p.items()}
        wanted.append([design.value(p, model, node) for _, design, node in drawn(TREES, model, number)])
    e = np.array(wanted)
    assert [each.mean for each in found] == pytest.approx(e.mean(axis=0).tolist())
    assert [each.tree for each in found] == [tree for tree in TREES for _ in named(tree)[2]]
    first = [each.design for each in found].index(DESIGNS[0])
    assert found[first].difference == found[first].difference_half_width == 0
    assert found[3].difference == pytest.approx(float((e[:, 3] - e[:, 0]).mean()))
    assert all(each.half_width is not None for each in found)


def test_some_texts_are_those_of_a_file_with_these_alone(tmp_path, whole):
    """The draws of a text depend on its place in the file, and not on which texts are measured."""
    recorded = Trees(written(tmp_path / "rows.npz", whole))
    assert recorded.chosen(2).tolist() == [0, int(np.flatnonzero(whole["parent"] < 0)[-1])]
    few, all_ = measured(recorded, 2), measured(recorded)
    assert [each.tree for each in few] == [each.tree for each in all_]
    assert any(a.mean != b.mean for a, b in zip(few, all_, strict=True))


def test_trees_have_the_tokens_that_were_asked_for():
    for tree, design, node in drawn(TREES, Model(0), 0):
        assert sum(1 for _ in node) == 1 + named(tree)[1], design


def test_verifiers_of_one_draft_judge_the_same_tree():
    trees = {}
    for tree, design, node in drawn(TREES, Model(0), 0):
        assert trees.setdefault((tree, design.tree, design.siblings), node) is node


@pytest.mark.parametrize("tree", ["0", "5000", "oak", "", "0x2", "[[]", "-3"])
def test_other_trees_are_refused(tree):
    with pytest.raises(BadInput) as caught:
        named(tree)
    assert_one_line(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        (
            "parent",
            lambda a: np.where(np.arange(len(a)) == 3, 3, a),
            "parent: row 3 must name one of rows 0 to 2",
        ),
        ("parent", lambda a: np.where(np.arange(len(a)) == 0, 1, a), "parent: row 0"),
        ("parent", lambda a: a[:-1], "parent must be"),
        ("token", lambda a: np.where(a == a[1], V, a), f"no token of {V}"),
        ("trees", lambda a: np.array([1, 2]), "trees must be words"),
        ("trees", lambda a: np.array(["oak"]), "'oak' is no tree"),
        ("trees", lambda a: np.array(["40"]), "has no row after"),
    ],
)
def test_faults_are_one_line(tmp_path, whole, name, change, fault):
    path = written(tmp_path / "rows.npz", {**whole, name: change(whole[name])})
    with pytest.raises(BadInput) as caught:
        measured(Trees(path))
    assert_one_line(caught.value, fault)


def test_the_study(tmp_path, capsys, whole):
    path = written(tmp_path / "rows.npz", whole)
    assert enter(main, ["measure", str(path)]) == 0
    assert "E[tau]" in capsys.readouterr().out
    assert enter(main, ["measure", str(path), "--json"]) == 0
    assert {each["tree"] for each in json.loads(capsys.readouterr().out)} == set(TREES)
    assert enter(commands(), ["gap", "--rows", str(path), "--json"]) == 2
    assert "has rows at the nodes of trees" in capsys.readouterr().err
    assert enter(main, ["measure", str(tmp_path / "none.npz")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
