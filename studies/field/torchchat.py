"""pytorch/torchchat: `Generator.generate` with a draft model."""

import logging
from types import SimpleNamespace

import torch
from clones import Tokens, clone
from engines import methods

FILE = clone("pytorch/torchchat", "torchchat/generate.py")
NAMES = ("logits_to_probs", "sample", "multinomial_sample_one_no_sync", "prefill", "decode_one_token")
NAMES += ("decode_n_tokens", "model_forward", "speculative_decode", "generate")
TYPES = SimpleNamespace(Flamingo="flamingo")
names = {
    "torch": torch,
    "logger": logging.getLogger("torchchat"),
    "ModelType": TYPES,
    "time": __import__("time"),
}
names["SDPBackend"] = torch.nn.attention.SDPBackend
theirs = methods(FILE, "LocalGenerator", NAMES, names | {"Optional": dict, "Dict": dict, "Any": dict})


class Net(Tokens):
    config = SimpleNamespace(model_type="text")

    def to(self, **_):
        return self

    def setup_caches(self, **_): ...

    def __call__(self, ids, positions):
        return self.at(positions.view(-1), ids.view(-1))[None]


def generate(target, draft, prompt, length, gamma):
    code = SimpleNamespace(is_torchtune_model=False, tokenizer=None, model=Net(target))
    for name in NAMES:
        function = getattr(theirs, name)
        setattr(code, name, lambda *a, function=function, **k: function(code, *a, **k))
    out = code.generate(
        Net(target),
        prompt,
        length + 2,
        chat_mode=False,
        draft_model=Net(draft),
        speculate_k=gamma,
        callback=lambda *_, **__: None,
        accumulate_tokens=8,
        max_seq_length=100,
        temperature=1.0,
    )
    return [int(token) for token, _ in out if token is not None][:length]
