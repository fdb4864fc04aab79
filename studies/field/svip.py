"""Geralt-Targaryen/SVIP: `assisted_decoding`, sampled, with drafts of constant length."""

import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch
from clones import Padded, clone
from engines import functions, method

FILE = clone("Geralt-Targaryen/SVIP", "vanilla-sd/eval_specbench.py")


def crop(model, cache, length):  # transformers' function of that time
    return tuple(tuple(each[:, :, :length] for each in layer) for layer in cache)


names = {
    "torch": torch,
    "F": torch.nn.functional,
    "time": time,
    "tqdm": MagicMock(),
    "device": "cpu",
    "tokenizer": SimpleNamespace(eos_token_id=-1),
    "args": SimpleNamespace(entropy_threshold=0.0, length_policy="constant", sample=True),
    "_crop_past_key_values": crop,
}
made, drafts = (dict(names) for _ in range(2))
names["AssistantModel"] = type(
    "AssistantModel",
    (),
    {"__init__": method(FILE, "__init__", made), "generate": method(FILE, "generate", drafts)},
)
decode = functions(FILE, ("assisted_decoding",), names)["assisted_decoding"]


def generate(target, draft, prompt, length, gamma, more=0):
    prompt = prompt.repeat(1, 2)  # its caches start with the prompt without its last token
    text, *_ = decode(
        Padded(target, 1), Padded(draft, 1), prompt, max_new_tokens=length + more, num_assistant_tokens=gamma
    )
    return text[0, 2:]


def longer(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, more=1)
