"""`draftproof gpu generate` as users meet it, with the pair that ships."""

import json
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from transformers import AutoModelForCausalLM

import draftproof
from studies.train_pair import byte_pairs


@pytest.fixture
def run(run, toml):
    """As `run`, with the settings of a file."""

    def ended(*arguments, **settings):
        return run(*arguments, *(toml(**settings) if settings else ()))

    return ended


def generate(run, *arguments, **settings):
    given = "--device", "cpu", "--json", "--max-new-tokens", 16, *arguments
    status, out, err = run("generate", *given, **settings)
    assert (status, err) == (0, "")
    return json.loads(out)


def test_greedy_text_is_the_same_for_every_drafter_verifier_and_structure(run):
    ways = [
        ["--drafter", "none"],
        [],
        ["--drafter", "block", "--draft", "tree:eagle"],
        ["--drafter", "ngram", "--verifier", "token"],
        ["--draft", "top-k:3x3x8"],
        ["--drafter", "block", "--draft", "paths:3x3", "--verifier", "rrs"],
    ]
    answers = [generate(run, "--temperature", 0, "--prompt", "import ", *way) for way in ways]
    assert len({answer["outputs"][0]["text"] for answer in answers}) == 1
    plain, *others = answers
    assert plain["block_efficiency"] == 1
    assert plain["steps"] == plain["tokens"] == 16
    assert all(answer["steps"] < 16 for answer in others[:2])


def test_the_text_is_written_and_the_last_line_counts(run):
    status, out, err = run("generate", "--device", "cpu", "--max-new-tokens", 16, "--prompt", "def ")
    assert (status, err) == (0, "")
    text, _, last = out.rstrip("\n").rpartition("\n")
    answer = generate(run, "--prompt", "def ", "--model", "shipped")
    assert text == answer["outputs"][0]["text"]
    assert last.startswith(f"[16 tokens in {answer['steps']} steps, block efficiency ")


def test_a_batch_and_a_stop_string(run):
    asked = ["--prompt", "a", "--prompt", "import os\n", "--temperature", 0]
    answer = generate(run, *asked, stop=["o"])
    assert [each["prompt"] for each in answer["outputs"]] == ["a", "import os\n"]
    for each in answer["outputs"]:
        assert "o" not in each["text"]
        assert each["finished"] in ("stop", "length", "end")
    status, out, _ = run("generate", "--device", "cpu", *asked, stop=["o"])
    assert status == 0
    assert "--- 1: 'a'\n" in out
    assert "--- 2: 'import os\\n'\n" in out


def test_a_text_depends_on_its_own_seed_alone(run):
    both = ["--prompt", "import ", "--prompt", "def ", "--seed", 5, "--seed", 9]
    together = generate(run, *both)["outputs"]
    for text, prompt, seed in zip(together, ("import ", "def "), (5, 9), strict=True):
        assert generate(run, "--prompt", prompt, "--seed", seed)["outputs"] == [text]
    assert generate(run, "--prompt", "def ", "--seed", 5)["outputs"] != [together[1]]
    status, _, err = run("generate", "--seed", 1, "--seed", 2)
    assert (status, err) == (2, "draftproof: --seed: 2 seeds for 1 prompts\n")


def test_first_turns_of_the_questions_of_a_file(run, tmp_path):
    (tmp_path / "question.jsonl").write_text('{"turns": ["def ", "class "], "category": "coding"}\nimport \n')
    outputs = generate(run, "--prompts", tmp_path / "question.jsonl", "--drafter", "none")["outputs"]
    assert [each["prompt"] for each in outputs] == ["def ", "import "]


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        ([], {"chat": True}, "has no chat template"),
        (["--prompts", "nowhere", "--prompt", "a"], {}, "cannot be combined"),
        (["--prompts", "nowhere"], {}, "nowhere: no such file"),
    ],
)
def test_bad_input_about_prompts(run, arguments, settings, said):
    status, out, err = run("generate", "--device", "cpu", *arguments, **settings)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_processors_change_the_text_alike_with_and_without_a_draft(run, tmp_path):
    """With what a draft must not change: the text of plain decoding."""
    (tmp_path / "mine.py").write_text(
        "from transformers import RepetitionPenaltyLogitsProcessor, SequenceBiasLogitsProcessor\n\n"
        "penalty = RepetitionPenaltyLogitsProcessor(1.4)\n"
        "bias = SequenceBiasLogitsProcessor([[[8], 1.0]])\n"
    )
    asked = ["--temperature", 0, "--prompt", "import "]
    settings = {"logits_processor": [f"{tmp_path / 'mine.py'}:{name}" for name in ("bias", "penalty")]}
    ways = [["--drafter", "none"], [], ["--draft", "tree:2x2"]]
    answers = [generate(run, *asked, *way, **settings) for way in ways]
    assert len({answer["outputs"][0]["text"] for answer in answers}) == 1
    names = ["SequenceBiasLogitsProcessor", "RepetitionPenaltyLogitsProcessor"]
    assert answers[0]["processors"] == names
    other = generate(run, "--temperature", 0, "--prompt", "import ")
    assert other["outputs"][0]["text"] != answers[0]["outputs"][0]["text"]


def test_a_function_from_a_file(run, tmp_path):
    (tmp_path / "hook.py").write_text(
        "import torch\n\n\ndef no_space(ids, scores):\n"
        "    return scores.masked_fill(torch.arange(scores.shape[-1]) >= 200, -torch.inf)\n"
    )
    answer = generate(run, logits_processor=[f"{tmp_path / 'hook.py'}:no_space"], draft_temperature=0.5)
    assert max(answer["outputs"][0]["tokens"]) < 200


def test_a_selection_verifies_what_its_budget_allows(run):
    prompts = [part for text in ("a", "def ", "import os", "x = ") for part in ("--prompt", text)]
    answer = generate(run, *prompts, selection="tetris-repaired", budget=4)
    assert (answer["selection"], answer["budget"], answer["batch"]) == ("tetris-repaired", 4, None)
    assert 0 < answer["accepted"] <= answer["verified"] <= 4 * answer["steps"]
    halves = generate(run, *prompts, budget=4, batch=2)
    assert halves["selection"] == "all"
    assert answer["verified"] < halves["verified"] <= 8 * halves["steps"]
    none = generate(run, *prompts, budget=0)
    assert none["block_efficiency"] == 1
    status, out, _ = run("generate", "--device", "cpu", "--max-new-tokens", 4, selection="dspark")
    assert status == 0
    assert "dspark: " in out


def test_texts_of_a_batch_are_those_of_all_at_once(run):
    prompts = [part for text in ("ab", "def ", "import os", "x = ") for part in ("--prompt", text)]
    together, two = (generate(run, *prompts, **more) for more in ({}, {"batch": 2}))
    assert two["outputs"] == together["outputs"]
    assert two["steps"] > together["steps"]


def test_memory_that_runs_out_keeps_the_text_so_far(run, monkeypatch):
    from draftproof.gpu.engine import loop

    step, seen = loop._Loop.step, []

    def third_time_unlucky(self):
        seen.append(1)
        if len(seen) == 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore lines.")
        return step(self)

    monkeypatch.setattr(loop._Loop, "step", third_time_unlucky)
    status, out, err = run("generate", "--device", "cpu", "--prompt", "def ", "--json")
    answer = json.loads(out)
    assert status == 2
    assert err.startswith("draftproof: out of memory")
    assert err.count("\n") == 1
    assert (answer["steps"], answer["outputs"][0]["finished"]) == (2, None)
    assert answer["outputs"][0]["text"]
    assert answer["error"].startswith("out of memory")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["generate", "--prompt", ""], "the prompt is empty"),
        (["generate", "--prompt", "x " * 400], "tokens; "),
        (["generate", "--model", "./nowhere"], "no such folder"),
        (["generate", "--drafter", "./nowhere"], "no such folder"),
        (["generate", "--verifier", "blok"], "'blok' is not one of 'block'"),
        (["generate", "--verifier", "block", "--draft", "tree:2x2"], "block is made for chain"),
        (["generate", "--draft", "bush:2"], "not a structure"),
        (["generate", "--device", "abacus"], "abacus"),
        (["generate", "--temperature", "-1"], "--temperature"),
        (["generate", "--max-new-tokens", "0"], "--max-new-tokens"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, arguments, said):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        ([], {"stop": [""]}, "a string of stop is empty"),
        ([], {"budget": -1}, "--budget"),
        ([], {"selection": "tetriss"}, "no selection rule is named 'tetriss'; did you mean tetris"),
        (["--draft", "tree:2x2"], {"selection": "all"}, "selection is defined on chains"),
        (["--drafter", "none"], {"selection": "all"}, "no draft to select from"),
        ([], {"batch": 0}, "'--batch': 0 is not in the range x>=1"),
        ([], {"logits_processor": ["math:nothing"]}, "math: has no 'nothing'"),
        ([], {"top_q": 1}, "no setting is named 'top_q'"),
    ],
)
def test_bad_settings_are_one_line_and_status_2(run, arguments, settings, said):
    test_bad_input_is_one_line_and_status_2(
        lambda *given: run(*given, **settings), ["generate", *arguments], said
    )


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Folders with a network that reads chains only, and with one that is not causal."""
    from tests.gpu import architectures

    made = tmp_path_factory.mktemp("checkpoints")
    for name in ("mpt", "bert"):
        byte_pairs(["the quick brown fox; " * 8], 270).save_pretrained(made / name)
        config = architectures.config(name, vocab_size=270)
        AutoModelForCausalLM.from_config(config).save_pretrained(made / name)
    return made


def test_a_network_that_is_read_wrongly_is_refused_in_one_line(run, checkpoints):
    def told(name, *more):
        return run("generate", "--device", "cpu", "--max-new-tokens", 6, "--model", checkpoints / name, *more)

    status, out, err = told("mpt", "--draft", "tree:2x2", "--drafter", checkpoints / "mpt")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "mpt reads chains only, not tree:2x2: with tree:2x2 a pass fails: RuntimeError: Boolean" in err
    assert told("mpt", "--draft", "chain:2", "--drafter", checkpoints / "mpt")[0] == 0
    status, out, err = told("bert")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "BertLMHeadModel is not decoded as it should be: with chain:3, log-probabilities are up to" in err
    assert told("bert", "--no-row-test")[0] == 0


def test_the_last_line_counts_what_was_emitted_and_says_what_was_cut_off(command):
    _, out, _ = command("gpu", "generate", "--prompt", "a", "--max-new-tokens", 4, "--seed", 1)
    counts = r"\[(\d+) tokens in (\d+) steps?, block efficiency ([\d.]+),"
    tokens, steps, mean = re.search(counts, out).groups()
    assert float(mean) == round(int(tokens) / int(steps), 2)
    assert "cut off" not in out
    _, out, _ = command("gpu", "generate", "--prompt", "a", "--max-new-tokens", 1000)
    assert "; 1 text cut off at the models' context]" in out
    _, out, _ = command("gpu", "generate", "--prompt", "a", "--max-new-tokens", 1, "--drafter", "none")
    assert "[1 token in 1 step, " in out


def test_a_missing_model_and_a_missing_tokenizer_are_said(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    _, _, err = command("gpu", "generate", "--model", "no/such", "--prompt", "a")
    assert err == "draftproof: no/such: no such folder, and no such model can be downloaded\n"
    shutil.copytree(Path(draftproof.__file__).resolve().parent / "gpu" / "pair" / "target", tmp_path / "bare")
    for path in (tmp_path / "bare").glob("tokenizer*"):
        path.unlink()
    _, _, err = command("gpu", "generate", "--model", tmp_path / "bare", "--prompt", "a")
    assert "Couldn't instantiate the backend tokenizer from one of: (1)" in err
    assert len(err.splitlines()) == 1
