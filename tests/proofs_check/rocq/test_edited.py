"""Every edit of the translated code breaks its proof in Rocq, or enumeration does not refute it."""

import pytest

from tests.mutants.checked import examined
from tests.mutants.generated import verdicts
from tests.proofs_check.rocq.code import FILES, sources
from tests.proofs_check.rocq.edited import NEEDED, edited, judged, said

PROVED = tuple(each for each in edited() if said()[each.name] == "proved")


@pytest.fixture
def folder(library, tmp_path):
    """A folder with what the proofs require, compiled."""
    library.into(tmp_path, *NEEDED)
    return tmp_path


def test_what_rocq_says_is_of_the_edits():
    names = [each.name for each in edited()]
    assert list(said()) == names, "run python -m tests.proofs_check.rocq.edited --write"
    assert len(names) >= 400
    assert {each.file for each in edited()} == set(FILES)


def test_most_edits_are_refused_by_the_proof_itself():
    answers = list(said().values())
    assert (len(answers), answers.count("not translated"), answers.count("not proved")) == (537, 101, 432)
    assert len(PROVED) == 4


def test_what_enumeration_refutes_is_not_proved():
    by_enumeration = {name.replace("-", "_"): line["verdict"] for name, line in verdicts().items()}
    both = [name for name in said() if by_enumeration.get(name.replace("-", "_")) == "refuted"]
    assert len(both) >= 150
    assert not [name for name in both if said()[name] == "proved"]


@pytest.mark.slow
@pytest.mark.parametrize("each", PROVED, ids=lambda each: each.name)
def test_what_is_proved_is_not_refuted(each):
    flaw, _ = examined(each.original, each.verifier())
    assert not flaw


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_the_code_as_it_is_is_proved(folder, file):
    assert judged(file, sources()[file], folder) == "proved"


@pytest.mark.slow
@pytest.mark.sampled(40, long=True)
@pytest.mark.parametrize("each", edited(), ids=lambda each: each.name)
def test_an_answer_is_still_true(folder, each):
    assert judged(each.file, each.text, folder) == said()[each.name]
