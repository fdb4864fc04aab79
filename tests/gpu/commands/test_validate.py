"""`draftproof gpu validate` as users meet it, with the pair that ships."""

import json
from functools import partial

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

CPU = ("--device", "cpu")
FEW = (*CPU, "--runs", 60, "--max-new-tokens", 8, "--top-k", 2, "--length", 2)
WIDE = {"half_width": 2.0, "batch": 60}


@pytest.fixture
def command(run):
    """Runs `draftproof gpu validate ...`."""
    return partial(run, "validate")


@pytest.fixture
def two(tmp_path):
    """A file of two prompts."""
    file = tmp_path / "two.txt"
    file.write_text('import os, sys\n{"turns": ["def main(argv):\\n    parser = "]}\n')
    return file


def test_every_verifier_and_draft_is_as_predicted(command, two, toml):
    status, out, err = command(*FEW, *toml(**WIDE), "--prompts", two, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer["ok"]
    assert answer["complete"]
    assert len(answer["cells"]) == 30
    (selected,) = [cell for cell in answer["cells"] if cell["selection"]]
    assert (selected["draft"], selected["selection"]) == ("chain:3", "tetris-repaired")
    assert len(selected["laws"]) == 4  # pairs of the eight requests
    for cell in answer["cells"]:
        assert cell["problems"] == []
        assert cell["greedy"]["tokens"] > 0
        assert cell["laws"][0]["runs"] == 60
        assert cell["acceptance"]["accepted"]["steps"] > 0
        assert all(each["steps"] > 0 for each in cell["acceptance"]["positions"])
        stateless, full = cell["acceptance"]["bounds"].values()
        sampled = cell["draft"].startswith(("tree", "paths", "strata"))
        assert (full is None, stateless is None) == (sampled, sampled)
        assert stateless is None or 0 <= stateless <= full + 1e-9


@pytest.mark.slow
def test_a_batch_of_eight_keeps_its_law_with_repaired_tetris_and_loses_it_with_tetris(command, toml):
    few = (*CPU, "--draft", "chain:3", "--verifier", "block", "--max-new-tokens", 8, "--top-k", 2)
    for rule, runs, right in (("tetris-repaired", 500, True), ("tetris", 4000, False)):
        asked = toml(half_width=2.0, selection=[rule], budget=8)
        status, out, _ = command(*few, *asked, "--runs", runs, "--json")
        whole, selected = json.loads(out)["cells"]
        assert status == int(not right)
        assert (whole["selection"], selected["selection"]) == (None, rule)
        assert not whole["problems"]
        assert bool(selected["problems"]) is not right
        assert any(each["rejected"] for each in selected["laws"]) is not right


@pytest.mark.slow
def test_processors_on_both_sides_of_a_draft(command, two, toml, tmp_path):
    """Greedy texts against transformers' own, laws against their enumeration, and acceptance."""
    (tmp_path / "mine.py").write_text(
        "from tests.gpu.parameters import processors\n\n"
        "made = processors(repetition_penalty=1.3, frequency_penalty=0.4, logit_bias={17: 2.5},\n"
        "                  bad_words_ids=[[40, 41]])\n"
        "penalty, frequency, bias, words = [each.function for each in made]\n"
    )
    functions = [f"{tmp_path / 'mine.py'}:{name}" for name in ("penalty", "frequency", "bias", "words")]
    asked = toml(**WIDE, logits_processor=functions, min_p=0.02, draft_temperature=0.8)
    few = ("--draft", "chain:2", "--draft", "tree:2x2", "--verifier", "block", "--verifier", "traversal")
    status, out, err = command(*FEW, *few, *asked, "--prompts", two, "--json")
    assert (status, err) == (0, "")
    assert len(json.loads(out)["cells"]) == 4


def test_block_and_ngram_drafts(command, toml):
    for drafter, cells in (("block", 2), ("ngram", 1)):
        few = ["--verifier", "block", "--draft", "chain:2", "--json"]
        status, out, _ = command(*FEW, *toml(**WIDE), "--drafter", drafter, *few)
        assert status == 0
        assert len(json.loads(out)["cells"]) == cells


@pytest.mark.slow
def test_ctrl_c_and_memory_keep_what_is_finished(command, toml, monkeypatch):
    import torch

    from draftproof.gpu.checks.models import run

    compare = run.compare
    for error, expected, said in (
        (KeyboardInterrupt(), 130, "interrupted: 1 of 3 cells"),
        (torch.OutOfMemoryError("out"), 2, "draftproof: out of memory; what was finished is above"),
    ):
        seen = []

        def second_time(*given, error=error, seen=seen):
            seen.append(1)
            if len(seen) == 2:
                raise error
            return compare(*given)

        monkeypatch.setattr(run, "compare", second_time)
        few = ("--draft", "chain:2", "--verifier", "block", "--verifier", "token")
        status, out, err = command(*FEW, *toml(**WIDE), *few, "--json")
        answer = json.loads(out)
        assert status == expected
        assert err.startswith(said)
        assert not answer["complete"]
        assert not answer["ok"]
        assert [cell["verifier"] for cell in answer["cells"]] == ["block"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "./nowhere"], "no such folder"),
        (["--drafter", "none"], "nothing to validate"),
        (["--draft", "bush:2"], "not a structure"),
        (["--verifier", "blok"], "'blok' is not one of 'block'"),
        (["--verifier", "block", "--draft", "tree:2x2"], "none of the verifiers"),
        (["--prompts", "nowhere.txt"], "nowhere.txt: no such file"),
        (["--length", "6", "--top-k", "16", "--draft", "chain:2"], "are too many"),
        (["--temperature", "0"], "--temperature"),
    ],
)
def test_bad_input_is_one_line_and_status_2(command, arguments, said):
    status, out, err = command("--device", "cpu", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"selection": ["tetriss"]}, "no selection rule is named 'tetriss'"),
        ({"budget": -1}, "--budget"),
        ({"logits_processor": ["nowhere.py:made"]}, "nowhere.py: no such file"),
        ({"half_width": "wide"}, "'wide' is not a valid float"),
        ({"halfwidth": 1}, "no setting is named 'halfwidth'; did you mean half_width?"),
    ],
)
def test_bad_settings_are_one_line_and_status_2(command, settings, said, toml):
    status, out, err = command("--device", "cpu", *toml(**settings))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_prompts_that_do_not_fit_are_bad_input(command, tmp_path):
    file = tmp_path / "prompts.txt"
    for text, said in (
        ("\n\n", "contains no prompt"),
        ("x " * 900, "takes 256"),
        ('{"turns": []}', "neither"),
    ):
        file.write_text(text)
        status, out, err = command("--device", "cpu", "--prompts", file, "--draft", "chain:2")
        assert (status, out) == (2, "")
        assert said in err
