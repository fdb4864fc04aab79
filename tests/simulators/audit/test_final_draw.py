"""Final draws counted over their random numbers: against all words, and by the command's exit status."""

import json
from itertools import product

import numpy as np
import pytest
from flint import fmpq

from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.audit.judge.final_draw import _of_race
from draftproof.theory.errors import BadInput

V = 2000
FILE = """
import numpy as np


def inverse(kind, p, rng, dtype):
    reach = np.cumsum(p[-1].astype(kind))
    u = rng.random(dtype=dtype) * reach[-1]
    return [min(int(np.searchsorted(reach, u, side="right")), len(reach) - 1)]


def fine(target_probs, draft_probs, draft_tokens, rng):
    return inverse(np.float64, target_probs, rng, np.float64)


def coarse(target_probs, draft_probs, draft_tokens, rng):
    return inverse(np.float64, target_probs, rng, np.float32)


def sums(target_probs, draft_probs, draft_tokens, rng):
    return inverse(np.float32, target_probs, rng, np.float64)


def choice(target_probs, draft_probs, draft_tokens, rng):
    return [rng.choice(target_probs.shape[1], p=target_probs[-1])]


def race(target_probs, draft_probs, draft_tokens, rng):
    noise = rng.standard_exponential(target_probs.shape[1], dtype=np.float32)
    return [int(np.argmax(target_probs[-1].astype(np.float32) / noise))]


def race64(target_probs, draft_probs, draft_tokens, rng):
    return [int(np.argmin(rng.exponential(size=target_probs.shape[1]) / target_probs[-1]))]


def multinomial(target_probs, draft_probs, draft_tokens):
    import torch

    return [int(torch.multinomial(torch.as_tensor(target_probs[-1]), 1))]


def empty(target_probs, draft_probs, draft_tokens, rng):
    return [int(draft_tokens[0])]
"""


@pytest.mark.parametrize(
    ("function", "status"),
    [
        ("fine", 0),
        ("choice", 0),
        ("coarse", 1),
        ("race64", 3),
        ("empty", 3),
        pytest.param("sums", 1, marks=pytest.mark.slow),
    ],
)
def test_one_number_is_counted(function, status, command, tmp_path):
    (tmp_path / "draws.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "float32.toml").write_text("float32 = true")
    counted = "--settings", tmp_path / "float32.toml"
    found, out, _ = command("audit", f"{tmp_path}/draws.py:{function}", *counted, "--vocab", V, "--json")
    answer = json.loads(out)
    assert found == status
    assert answer["lossless"] is {0: True, 1: False, 3: None}[status]
    if status < 3:
        assert (float(fmpq(answer["total_variation"])) < 1e-9) is (status == 0)
        assert answer["never_drawn"] == {"tokens": 0, "mass": 0}
    if function == "coarse":  # every token's number of words is off by up to one
        assert 1e-5 < float(fmpq(answer["total_variation"])) < V / 2**25
        assert answer["error_bound"] == "0"


@pytest.mark.parametrize(
    ("function", "vocab"),
    [
        pytest.param("race", 40_000, marks=pytest.mark.slow),
        pytest.param("multinomial", 151_936, marks=pytest.mark.long),
    ],
)
def test_a_race_of_24_bits_is_refused(function, vocab, command, tmp_path):
    if function == "multinomial":
        pytest.importorskip("torch")
    (tmp_path / "draws.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "float32.toml").write_text("float32 = true")
    counted = "--settings", tmp_path / "float32.toml"
    found, out, _ = command("audit", f"{tmp_path}/draws.py:{function}", *counted, "--vocab", vocab)
    assert found == 1
    assert "NOT lossless in its final draw" in out
    assert function == "race" or "total variation 0.002186 " in out


def test_tokens_below_the_grid_are_never_drawn():
    def coarse(target_probs, draft_probs, draft_tokens, rng):
        reach = np.cumsum(target_probs[-1])
        u = np.float16(rng.random(dtype=np.float32)) * reach[-1]
        return [min(int(np.searchsorted(reach, u, side="right")), len(reach) - 1)]

    report = examine(coarse, float32=True, vocab=V)
    assert report.lossless is False
    assert report.final.never > V / 4
    assert report.final.mass > 0.04


BITS, TOKENS = 4, 4


def scores(words, best, equal):
    """Scores of a race of few bits; with `best` large words win, with `equal` two words are alike."""
    u = (np.asarray(words) // (2 if equal else 1)) * (2 if equal else 1)
    E = -np.log((u + 0.5) / 2**BITS) if best else u + 0.7
    return np.append(0.5, np.full(TOKENS - 1, 0.5 / (TOKENS - 1))) / E


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_the_law_of_a_race_is_that_of_all_its_words(best, equal, last):
    def draw(words):
        found = scores(words, best, equal)
        return TOKENS - 1 - int(np.argmax(found[::-1])) if last else int(np.argmax(found))

    found = _of_race(draw, TOKENS, BITS)
    law = np.bincount([draw(words) for words in product(range(2**BITS), repeat=TOKENS)], minlength=TOKENS)
    want = np.append(0.5, np.full(TOKENS - 1, 0.5 / (TOKENS - 1)))
    assert float(found.total_variation) == pytest.approx(abs(law / law.sum() - want).sum() / 2, abs=1e-12)


def test_what_it_goes_without_is_bad_input():
    with pytest.raises(BadInput, match="statistical goes without float32"):
        examine(lambda p, q, x, rng: [0], float32=True, statistical=True)
