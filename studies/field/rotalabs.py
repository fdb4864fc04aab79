"""rotalabs-accel 1.1.1: `speculative_decode`, and `verify_tokens`, which it does not reach."""

from types import SimpleNamespace

import torch
from clones import Output, importable

importable("rotalabs-accel", absent=("rotalabs_accel.kernels", "rotalabs_accel.modules"))
from rotalabs_accel.speculative import core
from rotalabs_accel.speculative.config import SpeculativeConfig


def generate(target, draft, prompt, length, gamma):
    tokenizer = SimpleNamespace(
        encode=lambda text, **_: prompt, decode=lambda ids, **_: ids, eos_token_id=torch.tensor(-1)
    )
    config = SpeculativeConfig(lookahead_k=gamma, max_new_tokens=length, temperature=1.0)
    return core.speculative_decode(draft, target, tokenizer, "", config, "cpu")[0][1:]


def verify(target_probs, draft_probs, draft_tokens):
    """One drafted token; the likeliest token, which follows acceptance, is left out."""

    def model(ids, **_):
        return Output(logits=target_probs.log()[None], past_key_values=None)

    drawn = draft_probs.gather(1, draft_tokens[:, None])[:, 0]
    tokens, *_ = core.verify_tokens(model, torch.zeros(1, 1, dtype=torch.int64), draft_tokens, drawn, None)
    return tokens[: len(draft_tokens)]
