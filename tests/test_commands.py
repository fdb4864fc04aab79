"""The command line as users and scripts meet it: answers, exit statuses, one-line errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import VERIFIERS
from tests.problems import VECTORS
from tests.terminal import on_terminal


def test_law_answers_as_the_vectors_do(command, tmp_path):
    for name, vector in VECTORS.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(vector["instance"]), encoding="utf-8")
        for verifier, expected in vector["expected"].items():
            status, out, err = command("law", path, "--verifier", verifier, "--json")
            answer = json.loads(out)
            answer.pop("not_shown", None)
            assert answer == {"verifier": verifier, **expected}
            assert (status, err) == (0 if expected["lossless"] else 1, "")


def test_law_over_iterations_is_the_joint_law_of_the_first_tokens(command, toy):
    status, out, _ = command("law", toy, "--verifier", "greedy-block", "--iterations", 2, "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["lossless"] is True
    assert {len(word.split()) for word in answer["law"]} == {4}
    assert answer["law"]["0 0 0 0"] == "1/81"


def test_law_over_iterations_shows_how_far_it_is(toy):
    status, out, shown = on_terminal("law", toy, "--verifier", "block", "--iterations", 6, "--json")
    assert status == 0
    assert b"of 6 iterations" in shown
    assert len(json.loads(out)["law"]) == 2**8


def test_law_shows_the_witness(command, toy):
    status, out, _ = command("law", toy, "--verifier", "hsd-released")
    assert status == 1
    assert "tokens '1 0' come out first with probability 1/3, and should with 2/9" in out
    assert "hsd-released is not lossless on" in out


def test_check_of_a_file(command, toy):
    status, out, err = command("check", toy, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer.keys() == {"results", "summary", "ok", "instances", "seconds"}
    assert (answer["ok"], answer["instances"]) == (True, 1)
    rows = {row["verifier"]: row for row in answer["results"]}
    assert rows.keys() == {each.name for each in VERIFIERS.values() if "chain" in each.drafts}
    assert rows["hsd-released"] == {
        "verifier": "hsd-released",
        "instance": str(toy),
        "lossless": False,
        "declared": False,
        "total_variation": "1/9",
        "expected_accepted": "4/3",
    }
    assert rows["block"]["expected_accepted"] == "11/9"


def test_check_shows_a_table(command, toy):
    status, out, _ = command("check", toy, "--verifier", "block", "--verifier", "typical")
    assert status == 0
    assert "Verdicts by exact enumeration" in out
    assert "1 instance, 2 exact laws (V = 2, depth 2)" in out
    assert "every verdict is as declared" in out


def test_a_rule_declared_lossy_is_as_declared_for_check_and_no_lossless_law(command, toy):
    for name, statuses in (("hsd-released", (0, 1)), ("block", (0, 0))):
        runs = [command(each, toy, "--verifier", name) for each in ("check", "law")]
        assert tuple(status for status, *_ in runs) == statuses
    for each in ("check", "law"):
        assert "declare" in command(each, "--help")[1].partition("Exit status 0")[2]


def test_force_shows_what_goes_wrong_and_says_so_with_status_1(command, tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(document(scenario("reversed", Tree(((), ())), 4))), encoding="utf-8")
    status, _, err = command("check", path, "--verifier", "specinfer")
    assert status == 2
    assert "specinfer is made for" in err
    status, out, _ = command("check", path, "--verifier", "specinfer", "--force")
    assert status == 1
    assert "NOT every verdict is as declared" in out


def test_one_harmless_instance_does_not_refute_a_lossy_declaration(command, tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(VECTORS["chain1-v3-full"]["instance"]), encoding="utf-8")
    status, out, _ = command("check", path, "--verifier", "hsd-released", "--json")
    assert (status, json.loads(out)["results"][0]["lossless"]) == (0, True)


def test_check_of_a_text(command, tmp_path):
    source = tmp_path / "words.txt"
    source.write_text("the quick brown fox jumps over the lazy dog\n" * 4, encoding="utf-8")
    status, out, err = command(
        "check", "--text", source, "--vocab", 2, "--depth", 1, "--verifier", "block", "--json"
    )
    answer = json.loads(out)
    assert (status, err, answer["ok"]) == (0, "", True)
    assert answer["instances"] >= 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["law", "nothing.json", "--verifier", "block"], "nothing.json: no such file"),
        (["law", "{toy}", "--verifier", "blok"], "no verifier is named 'blok'"),
        (["law", "{toy}"], "Missing option '--verifier'"),
        (["law", "{toy}", "--verifier", "rrs", "--iterations", "0"], "--iterations"),
        (["law", "{toy}", "--verifier", "spechub"], "spechub is made for spechub"),
        (["check", "{toy}", "--jobs", "0"], "'--jobs': 0 is not in the range x>=1"),
        (["check", "--text", "nothing.txt"], "nothing.txt: no such file"),
        (["check", "--depth", "2"], "--vocab and --depth go with --text"),
        (["check", "--text", "{toy}", "--vocab", "1"], "--vocab must be"),
        (["check", "--text", "{toy}", "--depth", "0"], "depth must be"),
        (["check", "--text", "{toy}", "--depth", "100"], "toy.json: --vocab 3 and --depth 100: "),
        (["check", "--text", "{toy}", "--depth", "6"], "toy.json: --vocab 3 and --depth 6: "),
        (["check", "--text", "{toy}", "--vocab", "9", "--depth", "9"], "at most 100,000 prefixes"),
        (["check", "--nonsense"], "--nonsense"),
        (["nonsense"], "no command is named"),
    ],
)
def test_bad_input_is_one_line_and_status_2(command, toy, arguments, said):
    status, out, err = command(*(each.replace("{toy}", str(toy)) for each in arguments))
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["law", "--help"]])
def test_help_explains(command, arguments):
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    assert "Usage" in out


def test_ctrl_c_ends_with_what_was_finished():
    status, out, shown = on_terminal("check", "--jobs", 2, until=rb"[1-9][0-9,]* of ")
    assert status == 130
    assert "interrupted with" in out
    assert b"Traceback" not in shown


def test_a_reader_that_goes_away_is_no_error(toy):
    process = subprocess.run(
        f"{sys.executable} -m draftproof check {toy} | head -1", shell=True, capture_output=True, text=True
    )
    assert process.stdout.strip()
    assert "Traceback" not in process.stderr


def spoken(arguments, **streams):
    """A command in a process of its own, with real streams: (exit status, standard error)."""
    done = subprocess.run(
        [sys.executable, "draftproof.py", *map(str, arguments)],
        stderr=subprocess.PIPE,
        check=False,
        **streams,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_is_one_line_and_no_verdict(toy, more):
    with Path("/dev/full").open("w") as full:
        assert spoken(["law", toy, "--verifier", "token", *more], stdout=full) == (
            2,
            "draftproof: no space left on device\n",
        )


@pytest.mark.parametrize("command", ["law", "check"])
def test_a_reader_that_has_gone_makes_no_verdict(toy, command):
    """Neither click nor rich may answer it with their own status 1, which would mean lossy."""
    there, here = os.pipe()
    os.close(there)
    with os.fdopen(here, "w") as gone:
        assert spoken([command, toy, "--verifier", "token"], stdout=gone) == (0, "")


def test_names_that_the_terminal_cannot_spell_are_escaped(toy):
    odd = toy.rename(toy.with_name("\u00e9.json"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    status, err = spoken(["gap", odd, "--verifier", "token"], stdout=subprocess.DEVNULL, env=environment)
    assert (status, err) == (0, "")


def test_an_instance_on_standard_input(toy):
    with toy.open("rb") as given:
        assert spoken(["law", "-", "--verifier", "token"], stdin=given, stdout=subprocess.DEVNULL) == (0, "")


def test_an_error_line_keeps_the_spaces_of_what_it_quotes(command, tmp_path):
    path = tmp_path / "two  spaces.json"
    assert f"{path}: " in command("law", path, "--verifier", "token")[2]
