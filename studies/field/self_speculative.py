"""dilab-zju/self-speculative-decoding: `self_speculative_sample` with drafts that are sampled, or greedy."""

import contextlib
from unittest.mock import MagicMock

import torch
from clones import Padded, clone
from engines import functions

FILE = clone("dilab-zju/self-speculative-decoding", "decoding.py")
names = {"torch": torch, "top_k_top_p_filtering": lambda logits, **_: logits}  # nothing is filtered here
NAMES = ("sample", "max_fn", "self_speculative_sample", "exact_self_speculative_generate")
code = functions(FILE, NAMES, names)


class Pair:
    def __init__(self, target, draft):
        self.models, self.used = [Padded(target, 0), Padded(draft, 0)], 0
        self.device, self.config = target.device, target.config

    @contextlib.contextmanager
    def self_draft(self):
        self.used = 1
        yield
        self.used = 0

    def __call__(self, input_ids, past_key_values, **_):
        return self.models[self.used](input_ids, past_key_values)


def generate(target, draft, prompt, length, gamma, name="self_speculative_sample", sampled=True):
    found = code[name](
        Pair(target, draft),
        MagicMock(),
        prompt,
        max_new_tokens=length,
        max_step_draft=gamma,
        th_stop_draft=0.0,
        auto_th_stop_draft=False,
        do_sample=True,
        do_sample_draft=sampled,
        top_p=1.0,
        temperature=1.0,
    )
    return found["generate_ids"][0]


def greedy(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, sampled=False)


def matched(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, "exact_self_speculative_generate")
