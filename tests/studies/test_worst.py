"""The search for the instance on which a rule costs most."""

import json
import subprocess
import sys
from random import Random

import pytest
from click.testing import CliRunner
from flint import fmpq

from draftproof.simulators.instances.files import document, parse
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.transport.single_step import alpha
from draftproof.theory.verifiers import VERIFIERS
from studies import worst
from studies.worst import OPTIMA, ROUNDING, drawn, moves, search, share, tokens, usual
from tests.problems import TOY

PAIR = Tree(every(2, 1), True)


def test_shares_on_the_toy():
    assert share(TOY, "token", "block") == fmpq(19, 20) == share(TOY, "token", "stateless")
    assert share(TOY, "block", "full-information") == fmpq(20, 21)
    assert share(TOY, "hsd-released", "stateless") == fmpq(21, 20)


def test_on_one_level_acceptance_is_compared():
    rows = ["4/9", "5/9"], ["2/3", "1/3"]
    node = context_free(*rows, PAIR)
    assert tokens(node, "stateless") == alpha(node.target[()], node.proposal[()], 2, True)[0] == 1
    assert share(node, "specinfer", "stateless") == fmpq(23, 27)


def test_token_verification_costs_up_to_nine_sevenths_on_three_tokens():
    found = search("token", "block", Chain(3), 2, seconds=5)
    assert fmpq(7, 9) <= found.share < fmpq(5, 6)
    assert found.share == share(found.instance, "token", "block")
    assert all(mass.q <= 2 * worst.BOUND for _, row in found.instance.target.given() for mass in row)


def test_block_verification_has_no_price_against_the_stateless_optimum():
    found = search("block", "stateless", Chain(2), 2, seconds=0.3)
    assert found.share == 1
    assert found.instance is not None


def test_recursive_rejection_costs_on_a_pair():
    found = search("specinfer", "stateless", PAIR, 2, seconds=3)
    assert fmpq(23, 27) <= found.share < fmpq(7, 8)
    assert found.instance.draft == PAIR


def test_it_begins_where_it_is_told():
    given = scenario("toy", Chain(2))
    found = search("token", "block", given.draft, 2, seconds=0.1, start=given)
    assert found.share <= fmpq(19, 20)


def test_the_search_ends_with_the_best_when_interrupted():
    def interrupt(found):
        if found.tried > 3:
            raise KeyboardInterrupt

    found = search("token", "stateless", Chain(2), 2, seconds=30, progress=interrupt)
    assert found.interrupted
    assert share(found.instance, "token", "stateless") == found.share


def test_a_search_starts_where_its_seed_says():
    rows = [drawn(Random(7), Chain(2), 3, False) for _ in range(2)]
    assert rows[0] == rows[1]
    moved = moves(Random(1), rows[0])
    assert sum(moved[key] != rows[0][key] for key in moved) <= 1
    assert all(any(row) for row in moved.values())


def test_every_verifier_has_a_usual_draft():
    assert all(usual(name, "stateless").label in rule.drafts for name, rule in VERIFIERS.items())
    assert usual("token", "block").kind == "chain"
    assert usual(*OPTIMA) == worst.DRAFTS[0]


@pytest.mark.parametrize("names", [("spechub", "stateless"), ("token", "spechub")])
def test_it_refuses_a_draft_that_a_rule_is_not_made_for(names):
    with pytest.raises(BadInput, match="spechub is made for spechub, not for chain"):
        search(*names, Chain(2), 2, 1)


def test_rounding_is_above_the_certified_errors():
    assert fmpq(1, 10**9) < ROUNDING < fmpq(1, 10**6)


def asked(*arguments):
    return CliRunner().invoke(worst.main, [str(each) for each in arguments])


def test_it_prints_an_instance_file():
    found = asked("token", "--draft", "chain:3", "--vocab", 2, "--seconds", 0.5)
    assert found.exit_code == 0
    assert parse(found.stdout).draft == Chain(3)
    assert "token against stateless: price " in found.stderr


def test_where_there_is_no_gap_it_says_so():
    found = asked("block", "--draft", "chain:2", "--vocab", 2, "--seconds", 0.2)
    assert "no gap found" in found.stderr


def test_what_is_proved_stands_beside_the_price(tmp_path):
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(document(TOY)), encoding="utf-8")
    found = asked("token", "--against", "block", "--start", path, "--seconds", 0.2)
    assert found.stderr.startswith("token against block: price ")
    assert ", at most 1.154724 for all p and q" in found.stderr


def test_ctrl_c_prints_the_best_found_so_far(monkeypatch):
    stopped = worst.Worst(TOY, fmpq(19, 20), 7, interrupted=True)
    monkeypatch.setattr(worst, "search", lambda *_: stopped)
    found = asked("token", "--draft", "chain:2")
    assert (found.exit_code, parse(found.stdout).draft) == (130, TOY.draft)


@pytest.mark.parametrize("wrong", ["blok", "token --against blok", "spechub --draft chain:2"])
def test_bad_input_is_one_line(wrong):
    command = [sys.executable, "-m", "studies.worst", *wrong.split(), "--seconds", "0.1"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (1, "", 1)
