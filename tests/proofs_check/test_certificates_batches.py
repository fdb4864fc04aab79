"""Certificates of batches: the extracted checker accepts joint laws of requests, and refuses faults."""

import json

import pytest
from flint import fmpq

from draftproof.simulators.instances.batches import Batches, witness
from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws import certificate
from draftproof.simulators.laws.certificate import of_batch
from draftproof.simulators.laws.check import Piece
from draftproof.simulators.laws.verdicts import batches
from draftproof.simulators.laws.verdicts.batches import judge_batch
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule
from draftproof.theory.verifiers import named as verifier
from tests.proofs_check.certified import edited, put

TOKEN = verifier("token")


def line(batch, by=TOKEN):
    return of_batch(batch, by, judge_batch(batch, by))


def test_the_joint_laws_of_every_rule_are_accepted(checker):
    found = [
        (batch, judge_batch(batch, TOKEN)) for batch in (witness("tetris", rule) for rule in RULES.values())
    ]
    for name in ("block", "hsd-released"):
        found += [
            (b, judge_batch(b, verifier(name)))
            for b in (Batches(r, 2, 2, 2, 3, 3)[2] for r in RULES.values())
        ]
    three = Batches(named("tetris"), 2, 1, 3, 2, 2)[1]
    uneven = Batch((*three.requests[:2], Randoms(Chain(2), 3, 1)[0]), named("tetris-repaired"), 3)
    found += [(batch, judge_batch(batch, TOKEN)) for batch in (three, uneven)]
    accepted, said = checker("".join(of_batch(b, verifier(v.verifier), v) for b, v in found))
    assert accepted
    right = sum(v.lossless for _, v in found)
    assert 5 < right < len(found) - 5
    counts = f"{right} laws that are the target's, {len(found) - right} that are not"
    assert f"accepted: {counts}, on 0 instances, of batches: {len(found)}" in said


def test_law_and_check_write_one(checker, command, tmp_path, toy):
    file, path = tmp_path / "law.jsonl", tmp_path / "batch.json"
    path.write_text(json.dumps(document(witness("tetris"))), encoding="utf-8")
    for more, laws in (
        (("law", path, "--verifier", "token"), 0),
        (("check", path, toy, "--verifier", "block"), 1),
    ):
        _, _, err = command(*more, "--certificate", file)
        assert "without a certificate" not in err
        accepted, said = checker(file.read_text())
        assert accepted
        assert (
            f"{laws} laws that are the target's, 1 that are not, on {laws} instances, of batches: 1" in said
        )


def test_there_is_none_of_a_batch_without_a_law(command, tmp_path):
    def peek(view):
        view.token(1, 0)

    batch = Batch(witness("tetris").requests, Rule("peek", "no paper", "all", True, peek), 1)
    with pytest.raises(BadInput, match="is declared predictable, and"):
        line(batch)
    piece = Piece([batch], range(1), ((TOKEN, None),), "batch", 4, 2, 1)
    assert certificate.certified(piece)[1] == []


# ----------------------------------------------------------------------
# A program with a fault: the certificate that it writes is refused

TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))
LOSSY, RIGHT = (Batch((TOY, TOY), named(name), 1) for name in ("tetris", "tetris-repaired"))
SELECT, SELECTED, LAW_OF = Batch.select, batches.selected, batches.law_of


def evenly(batch):
    cases = SELECTED(batch)
    return dict.fromkeys(cases, fmpq(1, len(cases)))


def turned(target, length):
    return LAW_OF(target, length).map(lambda word: tuple(1 - x for x in word))


FAULTS = {
    "cases are equally likely": (batches, "selected", evenly),
    "the target's words are exchanged": (batches, "law_of", turned),
    "the drafts of the requests exchanged": (
        Batch,
        "select",
        lambda self, drafts: SELECT(self, drafts[::-1]),
    ),
    "a joint law is found right": (batches, "_first_wrong", lambda *given: None),
    "a request without a verified token": (certificate, "presented", lambda request, shown: request.draft),
    "rows of residuals are left out": (certificate, "text", lambda mass: str(fmpq(1, 2))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_with_a_fault_is_refused(checker, monkeypatch, fault):
    good = [line(batch) for batch in (LOSSY, RIGHT)]
    assert checker("".join(good))[0]
    monkeypatch.setattr(*FAULTS[fault])
    refused = 0
    for batch in (LOSSY, RIGHT):
        try:
            refused += not checker(line(batch))[0]
        except Exception:  # broken beyond a verdict
            continue
    assert refused


# ----------------------------------------------------------------------
# A file with a fault

WITNESS, REPAIRED = (line(witness("tetris", named(name))) for name in ("tetris", "tetris-repaired"))
"""{"requests": [.., ..], "batch": [[K, K], [K, K], [K, K], [K, K]]} after the drafts 0 and 0, 0 and 1,
1 and 0, 1 and 1; "wrong": {"prefix": [[], [0]], "got": "1/3", "want": "1/2"}. The first K is ["0", "1"]."""

EDITS = {
    "a selection by the last token": (
        REPAIRED,
        put(0, "batch", to=lambda l: [l[0], l[1], l[2], [l[3][0], l[2][1]]]),
    ),
    "cases exchanged": (REPAIRED, put(0, "batch", to=lambda l: l[::-1])),
    "a case left out": (REPAIRED, put(0, "batch", to=lambda l: l[1:])),
    "a case more": (REPAIRED, put(0, "batch", to=lambda l: [*l, l[0]])),
    "a request of a case left out": (REPAIRED, put(0, "batch", 0, to=lambda l: l[:1])),
    "a request of a case more": (REPAIRED, put(0, "batch", 0, to=lambda l: [*l, l[0]])),
    "the requests of a case exchanged": (REPAIRED, put(0, "batch", 0, to=lambda l: l[::-1])),
    "a coin": (REPAIRED, put(0, "batch", 1, 1, 0, 0, to="1/2")),
    "both sides of a coin": (REPAIRED, put(0, "batch", 1, 1, to=[["1/2", [1]], ["1/2", ["1", "0"]]])),
    "a coin above one": (REPAIRED, put(0, "batch", 1, 1, to=[["5/4", [1]], ["-1/4", ["1", "0"]]])),
    "a row that is no law": (REPAIRED, put(0, "batch", 0, 0, to=["0", "2"])),
    "another request's drafted token": (REPAIRED, put(0, "batch", 1, 0, to=[1])),
    "a stop below the draft": (REPAIRED, put(0, "batch", 2, 0, to=[1, 1])),
    "another call": (REPAIRED, put(0, "batch", 0, 0, to={"again": [[], [["0", "1"], ["0", "1"]]]})),
    "a target": (REPAIRED, put(0, "requests", 1, "target", 0, 1, to=["1/3", "2/3"])),
    "a target that is no law": (REPAIRED, put(0, "requests", 0, "target", 0, 1, to=["0", "2"])),
    "a proposal": (REPAIRED, put(0, "requests", 1, "proposal", 0, 1, to=["1/2", "1/2"])),
    "a proposal that is no law": (REPAIRED, put(0, "requests", 0, "proposal", 0, 1, to=["1/2", "1"])),
    "a longer draft": (REPAIRED, put(0, "requests", 0, "draft", "shape", to=[[[]]])),
    "a request left out": (REPAIRED, put(0, "requests", to=lambda l: l[1:])),
    "a loss denied": (WITNESS, lambda values: values[0].pop("wrong")),
    "a loss invented": (REPAIRED, put(0, "wrong", to={"prefix": [[], [0]], "got": "1/3", "want": "1/2"})),
    "a loss without difference": (
        REPAIRED,
        put(0, "wrong", to={"prefix": [[], [0]], "got": "1/2", "want": "1/2"}),
    ),
    "another witness": (WITNESS, put(0, "wrong", "prefix", to=[[], [1]])),
    "another request's witness": (WITNESS, put(0, "wrong", "prefix", to=[[0], []])),
    "another probability": (WITNESS, put(0, "wrong", "got", to="1/4")),
    "another target's probability": (WITNESS, put(0, "wrong", "want", to="1/4")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_with_a_fault_is_refused(checker, edit):
    good, change = EDITS[edit]
    assert checker(good)[0]
    assert not checker(edited(good, change))[0]
