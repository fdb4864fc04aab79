"""Certificates of verifiers that are no samplers: a possible path leads to what is no distribution."""

import json

import pytest
from flint import fmpq

from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.certificate import of_instance, of_law
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS, named
from tests.proofs_check.certified import edited, put

HALF, PAIR = fmpq(1, 2), ((), ())
TOY = scenario("toy", Chain(2))


def after_a_coin(end):
    def verify(oracle, draft, target):
        kept = oracle.accept(HALF)
        node = draft.root.children[0] if kept else draft.root
        return end(oracle, node, target) if kept else (node, target[node.prefix])

    return Verifier("faulty", "no paper", ("chain", "tree", "best-first"), False, verify)


def drawn(*row):
    return after_a_coin(lambda oracle, node, target: (node, (oracle.choose(row), target[node.prefix])[1]))


def tossed(probability):
    return after_a_coin(
        lambda oracle, node, target: (node, (oracle.accept(probability), target[node.prefix])[1])
    )


def returned(*row):
    return after_a_coin(lambda oracle, node, target: (node, row))


def raising(oracle, node, target):
    return node, {}[len(node.prefix)]


INVALID = {
    "a coin above 1": tossed(fmpq(4, 3)),
    "a coin below 0": tossed(fmpq(-1, 3)),
    "a row that sums to less": drawn(HALF, fmpq(1, 3)),
    "a row with a negative entry": drawn(fmpq(3, 2), -HALF),
    "a negative entry beside a one": drawn(fmpq(1), -HALF),
    "a row of zeros": drawn(fmpq(0), fmpq(0)),
    "a negative residual": returned(fmpq(3, 2), -HALF),
    "a residual of no mass": returned(fmpq(0), fmpq(0)),
    "an exception": after_a_coin(raising),
}


def lines(instance, verifier, calls=0):
    found = judge(instance, verifier, calls or None)
    assert found.invalid
    return of_instance(instance) + of_law(instance, verifier, found, calls)


@pytest.mark.parametrize("fault", INVALID)
@pytest.mark.parametrize("calls", [0, 2])
def test_a_run_that_no_sampler_does_is_shown(checker, fault, calls):
    for draft in (Chain(2), Tree(PAIR), BestFirst(2, 1)):
        accepted, said = checker(lines(Randoms(draft, 2, 1)[0], INVALID[fault], calls))
        assert accepted
        assert "0 laws that are the target's, 0 that are not, on 1 instances, runs of no sampler: 1" in said


def test_a_fault_of_the_second_call_alone(checker):
    verifier = named("token")

    def verify(oracle, draft, target):
        if draft.root.prefix:
            oracle.accept(fmpq(4, 3))
        return verifier.verify(oracle, draft, target)

    later = Verifier("later", "no paper", ("chain",), False, verify)
    assert not judge(TOY, later, 1).invalid
    assert checker(lines(TOY, later, 2))[0]


def test_law_and_check_write_one(checker, command, tmp_path):
    file, path = tmp_path / "law.jsonl", tmp_path / "instance.json"
    path.write_text(json.dumps(document(Randoms(Tree((PAIR,)), 2, 1)[0])), encoding="utf-8")
    for name in ("law", "check"):
        command(name, path, "--verifier", "spechub", "--force", "--certificate", file)
        accepted, said = checker(file.read_text())
        assert accepted
        assert "runs of no sampler: 1" in said


def test_prove_writes_one(checker, command, tmp_path, monkeypatch):
    file = tmp_path / "prove.jsonl"
    monkeypatch.setitem(VERIFIERS, "faulty", INVALID["a coin above 1"])
    monkeypatch.setattr(VERIFIERS["faulty"].verify, "__module__", "draftproof.faulty")  # a user's has no law
    status, _, err = command("prove", "faulty", "--certificate", file)
    assert status == 1, err
    assert "runs of no sampler: 1" in checker(file.read_text())[1]


COIN, ROW, END = (
    lines(TOY, INVALID[fault]) for fault in ("a coin above 1", "a negative residual", "an exception")
)
"""Line 2: {"law": .., "invalid": .., "drafts": [[["1/2", [["4/3", ".."], ["-1/3", ".."]]], ["1/2", []]], ..]}
for 4 drafts; [0, "3/2", "-1/2"]; "KeyError: 1"."""
RIGHT = of_instance(TOY) + of_law(TOY, named("block"), judge(TOY, named("block")))
LISTED = lines(Randoms(BestFirst(2, 1), 2, 1)[0], INVALID["a coin above 1"])


def everywhere(edit):
    """The edit of what verification does, on all drafts."""
    return put(1, "drafts", to=lambda trees: [edit(tree) for tree in trees])


EDITS = {
    "a coin that is one": (COIN, everywhere(lambda k: [["1/2", [["1/3", []], ["2/3", []]]], k[1]])),
    "a path of probability zero": (COIN, everywhere(lambda k: [["0", k[0][1]], ["1", []]])),
    "the path left out": (COIN, everywhere(lambda k: [["1", []]])),
    "a residual that is a law": (ROW, everywhere(lambda k: [["1/2", [*k[0][1][:1], "1/2", "1/2"]], k[1]])),
    "an end that is one": (END, everywhere(lambda k: [["1/2", []], k[1]])),
    "no draft": (COIN, put(1, "drafts", to=[])),
    "a draft that is not drawn": (COIN, put(1, "drafts", to=lambda trees: [[], [], [], [], trees[0]])),
    "the law is claimed right": (COIN, lambda values: values[1].pop("invalid")),
    "a word is claimed wrong": (COIN, put(1, "wrong", to={"prefix": [0], "got": "1/2", "want": "1/3"})),
    "a mean is claimed": (COIN, put(1, "accepted", to="1")),
    "a right law is claimed invalid": (COIN, put(1, to=json.loads(RIGHT.split("\n")[1]) | {"invalid": "no"})),
    "the target is no law": (COIN, put(0, "target", 0, 1, to=["1/3", "1/3"])),
    "another call without a draft": (COIN, everywhere(lambda k: {"again": [[], []]})),
    "a listed draft of probability zero": (
        LISTED,
        lambda values: (
            put(0, "draft", "drafts", to=lambda drafts: [["0", []], *drafts])(values),
            put(1, "drafts", to=lambda trees: [trees[0]])(values),
        ),
    ),
    "listed drafts that are no law": (LISTED, put(0, "draft", "drafts", 0, 0, to="1/7")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_with_a_fault_is_refused(checker, edit):
    good, change = EDITS[edit]
    assert checker(good)[0]
    assert not checker(edited(good, change))[0]


def test_an_end_outside_the_draft(checker):
    law = {"law": "outside", "invalid": "it stops where nothing was drafted", "drafts": [[], [0, 0]]}
    first = RIGHT.split("\n")[0] + "\n"
    assert checker(first + json.dumps(law) + "\n")[0]  # the second draft is 0 1
    law["drafts"] = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert not checker(first + json.dumps(law) + "\n")[0]
