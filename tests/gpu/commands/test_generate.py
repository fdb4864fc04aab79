"""`draftproof gpu generate` and `train` as users meet them, with the pair that ships."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch


def generate(run, *arguments):
    status, out, err = run("generate", "--device", "cpu", "--json", "--max-new-tokens", 16, *arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


def test_greedy_text_is_the_same_for_every_drafter_verifier_and_structure(run):
    ways = [
        ["--drafter", "none"],
        [],
        ["--drafter", "features", "--draft", "tree:eagle"],
        ["--drafter", "ngram", "--verifier", "token"],
        ["--draft", "top-k:3x3x8"],
        ["--drafter", "features", "--draft", "paths:3x3", "--verifier", "rrs"],
    ]
    answers = [generate(run, "--temperature", 0, "--prompt", "import ", *way) for way in ways]
    assert len({answer["outputs"][0]["text"] for answer in answers}) == 1
    plain, *others = answers
    assert plain["block_efficiency"] == 1
    assert plain["steps"] == plain["tokens"] == 16
    assert all(answer["steps"] < 16 for answer in others[:2])


def test_the_text_streams_and_the_last_line_counts(run):
    status, out, err = run("generate", "--device", "cpu", "--max-new-tokens", 16, "--prompt", "def ")
    assert (status, err) == (0, "")
    text, _, last = out.rstrip("\n").rpartition("\n")
    answer = generate(run, "--prompt", "def ", "--model", "shipped")
    assert text == answer["outputs"][0]["text"]
    assert last.startswith(f"[16 tokens in {answer['steps']} steps, block efficiency ")


def test_a_batch_and_a_stop_string(run):
    asked = ["--prompt", "a", "--prompt", "import os\n", "--temperature", 0, "--stop", "o"]
    answer = generate(run, *asked)
    assert [each["prompt"] for each in answer["outputs"]] == ["a", "import os\n"]
    for each in answer["outputs"]:
        assert "o" not in each["text"]
        assert each["finished"] in ("stop", "length", "end")
    status, out, _ = run("generate", "--device", "cpu", *asked)
    assert status == 0
    assert "--- 1: 'a'\n" in out
    assert "--- 2: 'import os\\n'\n" in out


def test_memory_that_runs_out_keeps_the_text_so_far(run, monkeypatch):
    from draftproof.gpu.engine import loop

    step, seen = loop._Decoder.step, []

    def third_time_unlucky(self):
        seen.append(1)
        if len(seen) == 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore lines.")
        return step(self)

    monkeypatch.setattr(loop._Decoder, "step", third_time_unlucky)
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
        (["generate", "--prompt", ""], "--prompt is empty"),
        (["generate", "--stop", ""], "--stop is empty"),
        (["generate", "--prompt", "x " * 400], "tokens; "),
        (["generate", "--model", "./nowhere"], "no such folder"),
        (["generate", "--drafter", "./nowhere"], "no such folder"),
        (["generate", "--verifier", "blok"], "'blok' is not one of 'block'"),
        (["generate", "--verifier", "block", "--draft", "tree:2x2"], "block is made for chain"),
        (["generate", "--draft", "bush:2"], "not a structure"),
        (["generate", "--device", "abacus"], "abacus"),
        (["generate", "--temperature", "-1"], "--temperature"),
        (["generate", "--max-new-tokens", "0"], "--max-new-tokens"),
        (["train"], "OUT"),
        (["train", "x", "--preset", "huge"], "--preset"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, arguments, said):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
