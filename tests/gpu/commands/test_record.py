"""`draftproof gpu record` writes what `draftproof gap --rows` reads."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.simulators.study.recorded import Recorded

SMALL = ("--device", "cpu", "--count", 2, "--tokens", 9, "--every", 4)


def test_rows_of_both_models_are_written(run, tmp_path):
    path = tmp_path / "rows.npz"
    status, out, err = run("record", *SMALL, "--out", path)
    assert (status, err) == (0, "")
    assert out == f"{path}: 6 rows of 1,024 tokens from 2 prompts\n"
    status, out, _ = run("record", *SMALL, "--out", path, "--json")
    assert (status, json.loads(out)) == (0, {"file": str(path), "rows": 6, "vocab": 1024, "prompts": 2})
    recorded = Recorded(path)
    assert recorded.sequence.tolist() == [0, 0, 0, 1, 1, 1]
    p, q = next(recorded.rows())
    assert 0 < np.abs(p - q).sum() < 2


def test_the_temperature_is_that_of_both_rows(run, tmp_path):
    path = tmp_path / "rows.npz"
    assert run("record", *SMALL, "--temperature", 0, "--out", path)[0] == 0
    assert all(row.max() == 1 for pair in Recorded(path).rows() for row in pair)


def test_drafters_without_rows_are_refused(run, tmp_path):
    status, _, err = run("record", *SMALL, "--drafter", "ngram", "--out", tmp_path / "rows.npz")
    assert status == 2
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_bad_input(run, tmp_path):
    status, _, err = run("record", *SMALL, "--out", tmp_path / "none" / "rows.npz")
    assert status == 2
    assert "no such file" in err


@pytest.fixture
def responses(tmp_path):
    """A file of texts that the engine served, with the record of their steps; chains of three, T = 1."""
    from draftproof.gpu.checks.row_test import checked_pair
    from draftproof.gpu.drafters.structures import structure
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import texts
    from draftproof.gpu.sampling.rows import Sampling
    from draftproof.gpu.verify import named

    target, drafter = checked_pair(None, None, "cpu", None)
    path, prompt = tmp_path / "served.jsonl", target.tokenizer.encode("import os")
    steps = generate(
        target,
        drafter,
        [prompt] * 12,
        verifier=named("token"),
        structure=structure("chain:3"),
        sampling=Sampling(1.0),
        max_new_tokens=48,
        seed=1,
    )
    steps = list(steps)
    with path.open("w") as file:
        for row, text in enumerate(texts(steps, 12)):
            each = [step.accepted[step.rows.index(row)] for step in steps if row in step.rows]
            record = {"num_spec_steps": len(each), "num_spec_tokens": 3, "per_step_accepted": each}
            given = {"prompt_token_ids": prompt[:-1], "choices": [{"token_ids": [prompt[-1], *text]}]}
            print(json.dumps({**given, "metrics": {"speculative_decoding": record}}), file=file)
    return path


def test_served_texts_get_the_rates_of_their_tokens(run, responses, tmp_path):
    from draftproof.simulators.endpoint.acceptance import Acceptance, served

    out = tmp_path / "rates.jsonl"
    settings = tmp_path / "settings.toml"
    for draft, rejected in (("", False), ("draft_temperature = 0.5", True), ("draft_top_k = 10", True)):
        settings.write_text(draft)
        arguments = ["--device", "cpu", "--served", responses, "--settings", settings, "--out", out]
        status, said, err = run("record", *arguments)
        assert (status, said, err) == (0, f"{out}: 12 responses\n", "")
        test = Acceptance(1e-3)
        for each in served(out):
            test.add(each)
        assert test.wealth.rejected == rejected, draft
    given = [json.loads(line) for line in out.read_text().split("\n")[:-1]]
    assert all(len(each["accept"]) == len(each["choices"][0]["token_ids"]) - 1 for each in given)
    assert all(0 <= a <= 1 for each in given for a in each["accept"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: no prompt_token_ids with token ids"),
        ('{"prompt_token_ids": [1]}', "line 1: no token_ids or tokens or output_ids"),
        ('{"prompt_token_ids": [1], "tokens": [true]}', "line 1: no token_ids"),
        ('{"prompt_token_ids": [1], "tokens": [5000]}', "line 1: a token beyond the vocabulary of 1,024"),
    ],
)
def test_other_responses_are_refused(run, tmp_path, line, said):
    path = tmp_path / "served.jsonl"
    path.write_text(line)
    status, _, err = run("record", "--device", "cpu", "--served", path, "--out", tmp_path / "rates.jsonl")
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
