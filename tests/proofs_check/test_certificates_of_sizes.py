"""Certificates of proofs by cells: the extracted checker accepts them, and refuses those with a fault."""

import json

import pytest

from draftproof import commands
from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.certificate import Run
from draftproof.proofs_check.prove import prove
from draftproof.simulators.commands.entry import enter
from draftproof.theory.drafts.names import scheme
from draftproof.theory.targets import ITSELF, declared
from draftproof.theory.verifiers import named
from tests.proofs_check.certified import edited, put

SMALL = ("token", "chain:1", 2), ("rrs", "tree:2x1", 2), ("hsd-multidraft", "paths:2x1", 2)
SIZES = (
    *(("token", draft, vocab) for draft, vocab in (("chain:3", 2), ("chain:2", 3), ("chain:1", 4))),
    *((name, draft, vocab) for name in ("block", "hsd") for draft, vocab in (("chain:2", 2), ("chain:1", 3))),
    *((name, "chain:2", 2) for name in ("greedy-block", "hsd-naive", "one-hot", "nss", "sampling-match")),
    *((name, "chain:2", 2) for name in ("hsd-multidraft", "multipath-block")),
    *((name, draft, 2) for name in ("optimal-transport", "khisti") for draft in ("tree:2x1", "tree+:2x1")),
    *((name, "tree:2x2", 2) for name in ("naive-tree", "nss", "traversal")),
    *((name, "tree:2x1", 3) for name in ("rrs", "traversal")),
    *(("gls", draft, 2) for draft in ("chain:1", "tree+:2x1")),
    ("specinfer", "tree+:2x2", 2),
    ("multipath-block", "paths:2x1", 2),
    ("sampling-match", "chain:1", 3),
    ("spechub", "spechub:1", 2),
    ("hu-greedy", "greedy:2x1", 2),
    ("hu-greedy", "greedy:2x1", 3),
    ("rrs", "tree:[[],[[],[]]]", 2),
)
LAWS = ("diverse", "chain:1", 2), ("interpolation:1/4", "chain:2", 2), ("cascade-token:1/4", "chain:1", 2)
LARGER_LAWS = (
    *((law, "chain:1", 3) for law in ("interpolation:1/4", "diverse", "cascade-token:1/4")),
    *((law, "chain:2", 2) for law in ("diverse", "cascade-token:1/4")),
    ("cascade-opt:1/4", "chain:1", 2),
)
LONGER = ("block", "chain:2", 3), ("spechub", "spechub:1", 3)  # minutes
LONGER_LAWS = ("cascade-opt:1/4", "chain:2", 2), ("cascade-opt:1/4", "chain:1", 3)


def size(name, draft, vocab, law=ITSELF):
    verifier, drafts = named(name) if law == ITSELF else law.rule, scheme(draft)
    proof = prove(verifier, drafts, vocab, 600, law)
    assert proof.verdict == "proved", proof
    return Run(proof.domain, verifier, drafts, law).line()


def marked(*kinds):
    return [pytest.param(*each, marks=mark) for cases, mark in kinds for each in cases]


@pytest.mark.parametrize(
    ("name", "draft", "vocab"), [*SMALL, *marked((SIZES, pytest.mark.slow), (LONGER, pytest.mark.long))]
)
def test_a_proof_of_one_size_is_accepted(checker, name, draft, vocab):
    accepted, said = checker(size(name, draft, vocab))
    assert accepted
    assert "proofs of a size: 1, cells empty on z3's word: 0" in said
    assert ("as listed" in said) == (draft.partition(":")[0] in ("spechub", "greedy"))


@pytest.mark.parametrize(
    ("law", "draft", "vocab"),
    [*LAWS, *marked((LARGER_LAWS, pytest.mark.slow), (LONGER_LAWS, pytest.mark.long))],
)
def test_a_proof_of_a_declared_law_is_accepted(checker, law, draft, vocab):
    lines = size(law, draft, vocab, declared(law))
    accepted, said = checker(lines)
    assert accepted
    assert "1 of a declared law, cells empty on z3's word: 0" in said
    assert not checker(edited(lines, lambda values: values[0].pop("law")))[0]  # it does not follow p
    other = json.loads(size("token", draft, vocab))["run"]
    assert not checker(edited(lines, put(0, "law", to=other)))[0]


@pytest.fixture(scope="module")
def proved():
    """Certificates of the small sizes, by verifier: line 1 is the only one."""
    sizes = *SMALL, ("block", "chain:1", 3)
    return {name: size(name, draft, vocab) for name, draft, vocab in sizes}


GOOD_LINE = Run.line
FIRST = 0, "run", "drafter", 1, 0, 1  # of token verification: the weight of a draft, and what follows
CUT = *FIRST, 1, "cut", 1, 0, "cut"
COIN = *CUT, 1, 0, "coin", 1
"""[[0, [["-1", [[1], [0]]], {"next": [[], [[0, [w, [0]]]]]}]], [1, [["1", [[2], [0]]], {"cut": ..}]]]."""

CELL_EDITS = {
    "a sign": ("token", put(*CUT, 0, 1, to=[0])),
    "the parts of a cell exchanged": ("token", put(*CUT, 1, to=lambda l: l[::-1])),
    "a part left out": ("token", put(*CUT, 1, 0, to="never")),
    "a part that is not empty": ("token", put(*FIRST, 1, "cut", 1, 0, to="never")),
    "a coefficient": ("token", put(0, "polynomials", 1, 0, 0, to="2")),
    "an exponent": ("token", put(0, "polynomials", 1, 0, 1, to=lambda word: word * 2)),
    "a variable": ("token", put(0, "polynomials", 1, 0, 1, 0, 0, to=1)),
    "weights exchanged": (
        "token",
        put(*COIN, to=lambda l: [[l[0][0], [l[1][1][0], l[0][1][1]]], [l[1][0], [l[0][1][0], l[1][1][1]]]]),
    ),
    "a weight": ("token", put(*COIN, 1, 1, 0, 0, to="1/2")),
    "a branch left out": ("token", put(*COIN, to=lambda l: l[:1])),
    "a row that is no law": ("token", put(*COIN, 0, 1, 1, "next", 1, 0, 1, 0, 0, to="2")),
    "a text": ("token", put(*COIN, 0, 1, 1, "next", 1, 0, 1, 1, to=[1])),
    "a text after no drafted node": ("token", put(*COIN, 0, 1, 1, "next", 0, to=[0])),
    "a drafted token": ("token", put(0, "run", "drafter", 1, 0, 0, to=0)),
    "a draft after another text": ("token", put(0, "run", "drafter", 0, to=[0])),
    "a draft of one token fewer": ("token", put(0, "children", to=[0])),
    "the drafter's coins are the verifier's": ("token", put(0, "run", to=lambda k: {"coin": k["drafter"]})),
    "the vocabulary": ("token", put(0, "tokens", to=3)),
    "longer words": ("rrs", put(0, "longest", to=lambda n: n - 1)),
    "with replacement": ("rrs", put(0, "replacement", to="true")),
    "one sibling": ("rrs", put(0, "children", to=[1])),
    "without replacement": ("hsd-multidraft", put(0, "replacement", to="false")),
    "what excludes each other": ("block", put(0, "excluded", to=[])),
    "a proof of it": ("block", put(0, "excluded", 0, 1, 0, 0, to="1/3")),
    "a proof without a positive summand": ("block", put(0, "excluded", 0, 1, to=[])),
    "a sign that its positive summand needs": ("block", put(0, "excluded", 0, 0, 0, 1, to=[1, 2])),
    "a literal of it": ("block", put(0, "excluded", 0, 0, 0, 1, to=[0, 1])),
}


@pytest.mark.parametrize("edit", CELL_EDITS)
def test_a_proof_of_one_size_with_a_fault_is_refused(checker, proved, edit):
    name, change = CELL_EDITS[edit]
    lines = proved[name]
    assert checker(edited(lines, lambda values: None))[0]
    assert edited(lines, change) != edited(lines, lambda values: None)
    assert not checker(edited(lines, change))[0]


def test_the_command_writes_what_it_proved(checker, tmp_path, capsys):
    file = tmp_path / "found.jsonl"
    options = ["--depth", "1", "--certificate", str(file)]
    assert enter(commands(), ["prove", "rrs", *options]) == 0
    assert checker(file.read_text())[0]
    assert json.loads(file.read_text())["cells"] == "rrs"


def test_the_command_writes_none_of_what_it_did_not_prove(tmp_path, capsys):
    file = tmp_path / "found.jsonl"
    assert enter(commands(), ["prove", "block", "--seconds", "0", "--certificate", str(file)]) == 3
    assert "no certificate: out of time" in capsys.readouterr().err
    assert not file.exists()


def test_the_command_writes_none_when_its_time_is_over(tmp_path, capsys, monkeypatch):
    def late(self):
        self.solver.deadline = 0.0
        return GOOD_LINE(self)

    file = tmp_path / "found.jsonl"
    monkeypatch.setattr(Run, "line", late)
    assert enter(commands(), ["prove", "block", "--certificate", str(file)]) == 0
    assert capsys.readouterr().err == "no certificate: out of time\n"
    assert not file.exists()


def test_what_is_taken_on_trust_is_counted(checker, proved):
    def trusted(values):
        values[0]["excluded"][0][1] = "z3"

    assert "cells empty on z3's word: 1" in checker(edited(proved["block"], trusted))[1]


def test_a_prover_with_a_fault_proves_nothing(checker, monkeypatch):
    assert prove(named("hsd-released"), scheme("chain:2"), 2).verdict == "refuted"
    monkeypatch.setattr(Cell, "agree", lambda *_: True)
    assert not checker(size("hsd-released", "chain:2", 2))[0]
    assert checker(size("hsd", "chain:1", 2))[0]
