"""shreyansh26/Speculative-Decoding: `probabilistic_verify`."""

import torch  # noqa: F401 - its arguments are tensors
from clones import Output, importable

importable("shreyansh26/Speculative-Decoding")
from common.verification import probabilistic_verify


def verify(target_probs, draft_probs, draft_tokens):
    def model(ids):
        return Output(logits=target_probs.log()[None])

    return probabilistic_verify(model, [0], draft_tokens.tolist(), draft_probs).emitted_ids
