"""Published drafters with random weights, and the reference implementations that made them.

`DRAFTPROOF_PEERS` names a folder with checkouts of SafeAILab/EAGLE, sgl-project/SpecForge and
deepseek-ai/DeepSpec, by their own names.
"""

import importlib
import importlib.util
import json
import os
import sys
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

from draftproof.gpu.drafters import eagle3 as published
from draftproof.gpu.drafters.eagle3 import Eagle3Head
from draftproof.gpu.drafters.published import _changed
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.network.models import Model
from tests.gpu.small import Numbers

VOCAB, HIDDEN, DEPTH = 40, 32, 8
SIZES = {
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "max_position_embeddings": 96,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "vocab_size": VOCAB,
    "pad_token_id": 0,
    "tie_word_embeddings": False,
}
EAGLE = SIZES | {"architectures": ["LlamaForCausalLM"], "draft_vocab_size": 24, "rope_theta": 5e3}
TEXT = [5, 3, 17, 8, 29, 1, 33, 12, 9, 20]
IDS = torch.tensor([0, 2, 3, *range(7, 28)])
"""The target's ids of the drafter's 24 tokens."""


@cache
def target() -> Model:
    """Eight Llama layers, so that EAGLE-3's three hidden states are different ones."""
    torch.manual_seed(0)
    sizes = SIZES | {"num_hidden_layers": DEPTH, "initializer_range": 0.3, "pad_token_id": None}
    net = LlamaForCausalLM(LlamaConfig(**sizes, bos_token_id=0, eos_token_id=0))
    return Model("target", net.eval().requires_grad_(False), Numbers(), VOCAB, 96)


def checkout(name: str) -> Path:
    """A reference implementation's folder; skips without it."""
    folder = Path(os.environ.get("DRAFTPROOF_PEERS", "/nonexistent")) / name
    if not folder.is_dir():
        pytest.skip(f"DRAFTPROOF_PEERS has no {name}")
    return folder


def imported(folder: Path, module: str):
    """A module of a checkout."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(str(folder))


def random(module):
    """The module with random weights, norms included."""
    torch.manual_seed(7)
    for weight in module.parameters():
        weight.data = 0.3 * torch.randn_like(weight)
    return module.eval().requires_grad_(False)


def maps():
    """EAGLE-3's d2t and t2d for `IDS`."""
    return IDS - torch.arange(len(IDS)), torch.isin(torch.arange(VOCAB), IDS)


def written(folder: Path, about, weights) -> Path:
    """A checkpoint of these keys."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(about))
    save_file({key: each.contiguous().clone() for key, each in weights.items()}, folder / "model.safetensors")
    return folder


def eagle3(of: Model, ids):
    """A config.json and random weights of an EAGLE-3 head for a target, in SpecForge's layout."""
    size, kept = of.network.config.hidden_size, frozenset()
    about = EAGLE | {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": size, "vocab_size": of.vocab}
    about["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [0, 0, 1]}
    net = random(Eagle3Head(LlamaConfig(**about), size, (1, 1, 2), ids, of.vocab, kept))
    inverse = tuple((ours, theirs) for theirs, ours in published.EAGLE)
    weights = {_changed(key, inverse): each for key, each in net.state_dict().items()}
    weights |= {"d2t": ids - torch.arange(len(ids)), "t2d": torch.isin(torch.arange(of.vocab), ids)}
    return about, weights


def states(of: Model, tokens=TEXT):
    """All hidden states of the target along a text."""
    return of.network(torch.tensor([tokens]), output_hidden_states=True).hidden_states


def drafted(drafter, tokens=TEXT, known=7):
    """Logits [n, V] of the drafter after the first `known` tokens, and after each one that follows."""
    of = drafter.target
    hidden = states(of, tokens[: known - 1])
    session = drafter.begin([tokens[:known]], 64, hidden)
    found = [session.root()]
    stages = structure(f"chain:{len(tokens) - known + 1}").stages
    for token, stage in zip(tokens[known:], stages[1:], strict=True):
        found.append(session.extend(torch.tensor([[token]]), stage.level)[:, 0])
    return torch.cat(found)


def wide(logits):
    """Logits over `IDS` as rows over the target's vocabulary."""
    every = torch.full((*logits.shape[:-1], VOCAB), -torch.inf)
    every[..., IDS] = logits
    return every
