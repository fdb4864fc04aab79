"""Functions cut out of the files of engines, on small stand-ins of our own, and transformers as installed."""

import random
import sys
from pathlib import Path

import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.theory.errors import BadInput

torch = pytest.importorskip("torch")

STUDIES = Path(__file__).parents[2] / "studies/field"
NAME = "transformers.generation.utils:_speculative_sampling"

STAND_IN = '''
import nothing_that_is_installed

def evaluate_posterior(logits, candidates, logits_processor):
    """The one-hot rule on one path."""
    for i in range(candidates.shape[1] - 1):
        row, x = torch.softmax(logits_processor(None, logits[0, i][None])[0], dim=0), candidates[0, i + 1]
        if not random.random() <= row[x]:
            row[x] = 0
            return torch.tensor(0), i, row / row.sum()
    return torch.tensor(0), candidates.shape[1] - 1, torch.softmax(logits[0, -1], dim=0)

AFTER = 1
'''

ACCEPTS_ALL = """
import torch
import nothing_that_is_installed

def _speculative_sampling(
    candidate_input_ids, candidate_logits, candidate_length, new_logits,
    last_assistant_token_is_eos, max_matches
):
    t = torch.multinomial(new_logits.softmax(-1)[0, -1], 1)
    return torch.cat([candidate_input_ids[0], t])[None], candidate_length
"""
"""Another release of transformers' function, that accepts every draft."""


@pytest.fixture
def engines():
    load.load(f"{STUDIES}/engines.py:functions")
    return sys.modules["engines"]


def eagle(engines, path, dtype=None):
    verify = engines.functions(path, ("evaluate_posterior",), {"torch": torch, "random": random})
    theirs = verify["evaluate_posterior"]

    def one_path(target_logits, draft_logits, tokens):
        candidates = torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None]
        _, accepted, row = theirs(target_logits[None], candidates, lambda ids, logits: logits)
        return torch.cat([tokens[: int(accepted)], torch.multinomial(row, 1)])

    target = engines.TorchChain(one_path, name="evaluate_posterior", logits=True)
    target.dtype = dtype or target.dtype
    return target


@pytest.mark.slow
def test_a_function_is_cut_out_of_its_file(engines, tmp_path):
    path = tmp_path / "utils.py"
    path.write_text(STAND_IN)
    report = audit.examine(eagle(engines, path), vocab=2)
    assert report.lossless, report


def test_a_file_without_the_function_is_bad_input(engines, tmp_path):
    path = tmp_path / "other.py"
    path.write_text("def other():\n    pass\n")
    for wrong in (path, tmp_path / "missing.py"):
        with pytest.raises(BadInput):
            engines.functions(wrong, ("verify",), {})


def test_transformers_on_small_instances():
    pytest.importorskip("transformers")
    report = audit.examine(load.target(NAME), vocab=2, depth=1)
    assert report.lossless, report


@pytest.mark.slow
def test_transformers_at_full_size():
    pytest.importorskip("transformers")
    report = audit.examine(load.target(NAME), vocab=4, depth=3)
    assert report.lossless, report
    assert 1e-9 < float(report.total_variation) < 1e-6
    crashes = [finding.where for finding in report.findings if finding.kind == "raises"]
    assert any("nan" in crash and str(1 - 2.0**-24) in crash for crash in crashes)
    assert any("equal but for rounding" in crash for crash in crashes)


@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_transformers_in_double_precision_leaves_no_room_for_bias(depth):
    pytest.importorskip("transformers")
    report = audit.examine(load.target(load.Subject(NAME, dtype="float64")), vocab=2, depth=depth)
    assert report.lossless, report
    assert float(report.case.bound) < 1e-13
    assert float(report.total_variation) < 1e-15


@pytest.mark.slow
def test_a_bias_beneath_the_rounding_of_float32_is_seen_in_double_precision(engines, tmp_path):
    path = tmp_path / "utils.py"
    path.write_text(STAND_IN.replace("<= row[x]", "<= row[x] + 1e-7"))
    assert audit.examine(eagle(engines, path), vocab=2, edges=False).lossless
    closer = audit.examine(eagle(engines, path, "float64"), vocab=2, edges=False)
    assert closer.lossless is False
    assert audit.examine(eagle(engines, _written(path, STAND_IN), "float64"), vocab=2).lossless


def _written(path, text):
    path.write_text(text)
    return path


def test_another_release_of_transformers(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAFTPROOF_FIELD", str(tmp_path))
    path = tmp_path / "huggingface/transformers/src/transformers/generation/utils.py"
    path.parent.mkdir(parents=True)
    path.write_text(ACCEPTS_ALL)
    report = audit.examine(load.target(f"{STUDIES}/transformers_function.py:verify"), vocab=2, depth=1)
    assert report.lossless is False
