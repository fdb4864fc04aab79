"""DRSY/SpeculativeDecoding: `speculative_sampling`."""

import random
import sys
from time import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch
from clones import Output, Padded, clone
from engines import functions

FILE = clone("DRSY/SpeculativeDecoding", "main.py")
names = {"torch": torch, "random": random, "sys": sys, "time": time, "Tuple": tuple, "Color": MagicMock()}
NAMES = ("relu_normalize", "truncate_kv_cache", "logits_adapter", "speculative_sampling")
code = functions(FILE, NAMES, names)


class Ids(Output):
    def to(self, device):
        return self


class Tokenizer:
    """Its text is the token ids."""

    def __call__(self, text, **_):
        return Ids(input_ids=torch.zeros(1, 2, dtype=torch.int64))

    def decode(self, ids, **_):
        return ids


def generate(target, draft, prompt, length, gamma, more=0):
    names["model"] = SimpleNamespace(device=prompt.device)
    wanted = {"max_new_tokens": length + more, "temperature": 1.0, "top_p": 1.0}
    text = code["speculative_sampling"]("", Padded(target, 1), Padded(draft, 1), Tokenizer(), gamma, wanted)
    return text[3:]  # the prompt, whose last token comes twice


def longer(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, more=1)
