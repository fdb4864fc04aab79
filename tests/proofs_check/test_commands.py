"""`prove` and `claims` on the command line: statuses, JSON, one-line errors."""

import json
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from draftproof import commands
from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.claims.review import cited
from draftproof.proofs_check.prove import prove
from draftproof.simulators.commands.entry import enter
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import VERIFIERS, block, rrs, token
from tests.mutants.edits import edited


def run(capsys, *arguments):
    status = enter(commands(), arguments)
    out, err = capsys.readouterr()
    return status, out, err


def answer(capsys, *arguments):
    status, out, _ = run(capsys, *arguments, "--json")
    return status, json.loads(out)


def test_proved(capsys):
    status, said = answer(capsys, "prove", "token", "--depth", "1")
    assert status == 0
    assert said["verdict"] == "proved"
    assert said["scope"] == "vocab=2 depth=1"
    assert said["counterexample"] is None
    assert said["cells"] > 0


def test_what_a_size_cannot_show_is_said_beside_its_verdict(capsys):
    status, said = answer(capsys, "prove", "token", "--depth", "1")
    assert "vocab=2 cannot show" in said["not_shown"]
    assert "depth=1 cannot show" in said["not_shown"]
    _, out, _ = run(capsys, "prove", "token")
    assert "vocab=2 cannot show" in out
    assert "depth=1" not in out
    status, out, _ = run(capsys, "prove", "token", "--vocab", "3", "--depth", "1")
    assert status == 0
    assert "vocab=2" not in out
    _, out, _ = run(capsys, "prove", "hsd-released")
    assert "cannot show" not in out, "what is refuted has been shown"


@pytest.mark.parametrize("label", ["without replacement", "paths"])
def test_two_symbols_cannot_show_that_rejected_tokens_stay_in_the_proposal(label):
    stays = edited(rrs, (", without(q, child.token)", ", q"))
    draft = Tree(((), ())) if label == "without replacement" else Paths(2, 1)
    assert prove(stays, draft, 2).verdict == "proved"
    assert prove(stays, draft, 3).verdict == "refuted"


def test_refuted(capsys):
    status, said = answer(capsys, "prove", "hsd-released")
    assert status == 1
    assert said["verdict"] == "refuted"
    assert {"target", "proposal"} <= said["counterexample"].keys()


def test_undecided_says_what_is_left(capsys):
    status, said = answer(capsys, "prove", "block", "--seconds", "0")
    assert (status, said["verdict"]) == (3, "undecided")
    assert said["left"] == ["0 0", "0 1", "1 0", "1 1"]


def test_a_failure_of_the_prover_refutes_nothing(capsys, monkeypatch):
    monkeypatch.setattr(Domain, "product", Mock(side_effect=AssertionError("a slip")))
    status, said = answer(capsys, "prove", "token")
    assert (status, said["verdict"]) == (3, "undecided")
    assert said["why"] == "the prover failed: AssertionError: a slip"


def test_an_exception_of_the_verifier_is_a_refutation_once_an_instance_shows_it(capsys, monkeypatch):
    def verify(oracle, draft, target):
        assert draft.path[-1].token == 0, "token 1"
        return token.verify(oracle, draft, target)

    verify.__module__ = token.__name__  # an exception of a user's own is bad input
    monkeypatch.setitem(VERIFIERS, "token", replace(token.VERIFIER, verify=verify))
    status, out, err = run(capsys, "prove", "token", "--depth", "1")
    assert (status, err) == (1, "")
    assert "draft 1, coins none: AssertionError: token 1" in out


def test_what_cannot_be_run_on_symbols_is_searched(capsys):
    status, said = answer(capsys, "prove", "typical", "--depth", "1")
    assert (status, said["verdict"]) == (1, "refuted")
    status, said = answer(capsys, "prove", "global-resolution", "--depth", "1")
    assert (status, said["verdict"]) == (3, "undecided")
    assert "no counterexample in" in said["why"]


def test_undecided_in_words(capsys):
    status, out, _ = run(capsys, "prove", "block", "--seconds", "0")
    assert status == 3
    assert "out of time with 4 of 4 words left" in out


def test_a_draft_may_be_spelled(capsys):
    draft = '{"kind": "tree", "shape": [[], []], "replacement": true}'
    status, said = answer(capsys, "prove", "specinfer", "--draft", draft)
    assert (status, said["verdict"]) == (0, "proved")
    status, out, _ = run(capsys, "prove", "specinfer", "--draft", draft)
    assert "vocab=2" in out.splitlines()[0]
    assert "depth=1: proved" in out.splitlines()[0]


@pytest.mark.parametrize("name", ["optimal", "priority"])
def test_every_size_is_proved_by_a_run_of_the_code(capsys, name):
    status, said = answer(capsys, "prove", name, "--every-size")
    assert (status, said["verdict"]) == (0, "proved")
    assert said["scope"] == "every vocabulary and depth"
    assert said["cells"] > 0
    assert said["claims"]
    status, out, _ = run(capsys, "prove", name, "--every-size")
    assert status == 0
    assert f"{name}, every vocabulary and depth: proved" in out


@pytest.mark.parametrize("name", ["token", "rrs", "hsd-naive"])
def test_every_size_is_proved_by_a_theorem_about_the_code(capsys, name):
    status, said = answer(capsys, "prove", name, "--every-size")
    theorem = f"{name.replace('-', '_')}_code_lossless"
    assert (status, said["verdict"], said["theorem"]) == (0, "proved", theorem)
    status, out, _ = run(capsys, "prove", name, "--every-size")
    assert status == 0
    assert f"a theorem in Rocq about this very code: {theorem}" in out
    assert f"{name}, every vocabulary and depth: proved" in out


@pytest.mark.parametrize("name", ["layered", "sampling-match", "optimal-transport", "gls"])
def test_what_the_code_does_not_prove_is_undecided(capsys, name):
    status, said = answer(capsys, "prove", name, "--every-size")
    assert (status, said["verdict"]) == (3, "undecided")
    assert said["why"]


def test_a_broken_verifier_is_not_proved_at_every_size(capsys, monkeypatch):
    broken = edited(block, ("excess(scale(w_i, target[node.prefix]), ", "excess(target[node.prefix], "))
    monkeypatch.setitem(VERIFIERS, "block", replace(broken, lossless=True))
    status, said = answer(capsys, "prove", "block", "--every-size")
    assert (status, said["verdict"]) == (3, "undecided")
    status, _, _ = run(capsys, "claims", "block-lossless")
    assert status == 1, "the verdict is not the recorded one any more"


def test_a_declared_law_on_the_command_line(capsys):
    mixture = "prove", "interpolation:1/4", "--depth", "1", "--against"
    status, said = answer(capsys, *mixture, "interpolation:1/4")
    assert (status, said["verdict"], said["against"]) == (0, "proved", "interpolation:1/4")
    status, out, _ = run(capsys, *mixture, "interpolation:1/3")
    assert status == 1
    assert "interpolation:1/4 against interpolation:1/3" in out
    assert "another law on" in out


def test_a_failure_of_the_prover_is_undecided(capsys, monkeypatch):
    slip = Mock(side_effect=RuntimeError("a slip"))
    monkeypatch.setattr("draftproof.proofs_check.every_size.prover.must_be_modelled", slip)
    monkeypatch.setattr("draftproof.proofs_check.prove._prove_words", slip)
    for size in ("--every-size", "--depth=1"):
        status, said = answer(capsys, "prove", "block", size)
        assert (status, said["verdict"]) == (3, "undecided")
        assert said["why"] == "the prover failed: RuntimeError: a slip"


@pytest.mark.parametrize(
    "arguments",
    [
        ["prove", "nobody"],
        ["prove", "token", "--vocab", "1"],
        ["prove", "token", "--vocab", "16", "--depth", "16"],
        ["prove", "rrs", "--draft", '{"kind": "tree"}'],
        ["prove", "token", "--draft", "{"],
        ["prove", "token", "--draft", '{"kind": "paths", "count": 2, "depth": 1}'],
        ["prove", "token", "--depth", "1", "--draft", '{"kind": "chain", "depth": 1}'],
        ["prove", "token", "--seconds", "nan"],
        ["prove", "token", "--every-size", "--vocab", "3"],
        ["prove", "token", "--every-size", "--against", "interpolation:1/4"],
        ["prove", "token", "--against", "nothing"],
        ["prove", "token", "--against", "interpolation:2"],
        ["prove", "cactus", "--against", "cactus"],
        ["prove", "greedy-block", "--against", "interpolation:1/4"],
        ["prove", "rrs", "--against", "interpolation:1/4", "--draft", '{"kind": "chain"}'],
        ["prove", "token", "--every-size", "--draft", '{"kind": "chain", "depth": 1}'],
        ["claims", "nothing"],
        ["claims", "--paper", "2606.02091"],
        ["claims", "--paper", "no such paper"],
    ],
)
def test_bad_input_is_one_line(capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert not out
    assert len(err.strip().splitlines()) == 1


def test_claims_by_name(capsys):
    status, said = answer(capsys, "claims", "block-lossless", "hsd-released-lossless")
    assert status == 0
    assert [each["found"] for each in said["claims"]] == [each["verdict"] for each in said["claims"]]


def test_claims_of_a_paper_by_number_address_or_key(capsys):
    _, by_key = answer(capsys, "claims", "--list", "--paper", "sun2025block")
    assert "block-lossless" in [each["claim"] for each in by_key["claims"]]
    for paper in ("2403.10444", "arXiv:2403.10444v3", "https://arxiv.org/abs/2403.10444", "Sun2025Block"):
        assert answer(capsys, "claims", "--list", "--paper", paper) == (0, by_key)


def test_arxiv_numbers_are_those_of_the_references():
    references = (Path(__file__).parents[2] / "references.bib").read_text(encoding="utf-8")
    keys = {
        number: entry.partition(",")[0]
        for entry in re.split(r"^@\w+\{", references, flags=re.MULTILINE)
        for number in re.findall(r"eprint = \{([\d.]+)\}", entry)
    }
    assert len(keys) > 30
    links = {key: paper["link"] for key, paper in cited().items()}
    assert {number: links[key].rpartition("/")[2] for number, key in keys.items()} == {n: n for n in keys}
    assert all(paper["title"] and not {*"{}"} & {*paper["title"]} for paper in cited().values())


def test_a_claim_says_where_it_is_from_what_it_assumes_and_how_long_it_took(capsys):
    for name in ("block-lossless", "Block Verification Accelerates"):
        status, out, _ = run(capsys, "claims", "--list" if " " in name else "--all", name)
        assert status == 0
        assert "block-lossless: proved for every vocabulary and depth" in out
    _, out, _ = run(capsys, "claims", "block-lossless")
    assert "Block Verification Accelerates Speculative Decoding https://arxiv.org/abs/2403.10444\n" in out
    assert "Rocq; assumed: the axioms of Rocq's real numbers" in out
    assert re.search(r"draftproof claims block-lossless   \(took [\d.]+ s\)", out)
    _, out, _ = run(capsys, "claims", "optimal-every-size")
    assert "code run; assumed: the models of drafts, coins and rows" in out
    status, said = answer(capsys, "claims", "traversal", "--list")
    assert status == 0
    assert {"weng2025traversal" in each["source"] for each in said["claims"]} == {True}
    _, _, err = run(capsys, "claims", "traversl-lossless")
    assert "no claim or paper is named 'traversl-lossless'; did you mean traversal-lossless" in err
