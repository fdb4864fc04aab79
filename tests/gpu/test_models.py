"""Models by path: what loads, what fits, and what is said where it does not."""
# ruff: noqa: E402

import json
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import MistralConfig

from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.models import check_pair, context_of, load
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import structure
from draftproof.gpu.train.data import byte_pairs
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from tests.gpu.small import network

TEXT = ["the quick brown fox jumps over the lazy dog; " * 8, "def f(x):\n    return x + 1\n" * 8]


def saved(folder, vocab, outputs=None, texts=TEXT, seed=0):
    """A model with a tokenizer of `vocab` tokens and a head of `outputs`."""
    tokenizer = byte_pairs(texts, vocab)
    tokenizer.save_pretrained(folder)
    network(16, 1, seed, outputs or len(tokenizer)).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("models")
    return {
        "plain": saved(made / "plain", 280),
        "padded": saved(made / "padded", 280, 320, seed=3),
        "short": saved(made / "short", 280, 200),
        "smaller": saved(made / "smaller", 270),
        "other": saved(made / "other", 280, texts=[text[::-1] for text in TEXT]),
    }


def test_the_shipped_pair_loads_and_fits():
    target, drafter = pair(None, None, "cpu")
    assert (target.vocab, target.context) == (1024, 256)
    assert drafter.name == str(SHIPPED / "drafter")
    for name in ("features", "ngram", str(SHIPPED / "features")):
        assert pair(None, name, "cpu")[1].name in (name, "features")
    assert pair(None, "none", "cpu")[1] is None
    assert pair(str(SHIPPED), None, "cpu")[0].name == str(SHIPPED / "target")


def test_outputs_beyond_the_tokenizer_are_left_out(folders):
    target, drafter = pair(folders["padded"], folders["plain"], "cpu")
    vocab = target.vocab
    assert target.network.config.vocab_size == 320 > vocab
    with torch.no_grad():
        target.network.lm_head.weight[vocab:] = 100 * target.network.lm_head.weight[:1]
    steps = list(
        generate(
            target,
            drafter,
            [[5, 6]],
            verifier=named("block"),
            structure=structure("chain:3"),
            sampling=Sampling(2.0),
            max_new_tokens=30,
            ignore_end=True,
        )
    )
    assert all(step.target.shape[-1] == step.proposal.shape[-1] == vocab for step in steps)
    assert all(token < vocab for step in steps for token in step.emitted[0])


def test_what_does_not_load_or_fit(folders, tmp_path):
    for name, said in (
        (tmp_path / "nothing", "no such folder"),
        (tmp_path, "no model is here"),
        (folders["short"], "the model has 200 outputs, its tokenizer 280 tokens"),
    ):
        with pytest.raises(BadInput, match=said):
            load(name, "cpu")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="transformers cannot load this model"):
        load(tmp_path, "cpu")
    target = load(folders["plain"], "cpu")
    with pytest.raises(BadInput, match=r"has 270 tokens and .* 280"):
        check_pair(target, load(folders["smaller"], "cpu"))
    with pytest.raises(BadInput, match="the id"):
        check_pair(target, load(folders["other"], "cpu"))
    with pytest.raises(BadInput, match="made for a target of hidden size 128, not 16"):
        pair(folders["plain"], str(SHIPPED / "features"), "cpu")
    with pytest.raises(BadInput, match="no such file"):
        pair(folders["plain"], "features", "cpu")


def test_layers_that_cannot_take_tokens_back_are_refused(folders, tmp_path):
    config = json.loads((SHIPPED / "target" / "config.json").read_text())
    config |= {"model_type": "qwen3_next", "layer_types": ["linear_attention"] * 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    once = rf"^{re.escape(str(tmp_path))}: layers of type linear_attention cannot take back"
    with pytest.raises(BadInput, match=once):
        load(tmp_path, "cpu")


def test_a_sliding_window_bounds_the_context():
    assert context_of(MistralConfig(max_position_embeddings=8192, sliding_window=4096)) == 4096
