"""vllm-project/vllm 0.33.0: adaptive verification's budget of drafted tokens by confidence.

The confidence of a position is 1 - TV(p, q) after the drafted tokens before it, what a trained confidence
head is trained to predict. Not run: estimators, the size of the budget, lagged scores.
"""

import torch
from engines import theirs

code = theirs("vllm-project/vllm", "vllm/v1/worker/gpu/spec_decode/adaptive_verification.py")


def select(target_probs, draft_probs, draft_tokens, capacity):
    sure = torch.minimum(target_probs[:, :-1], draft_probs).sum(dim=-1)
    lengths = torch.full(sure.shape[:1], sure.shape[1] if capacity else 0, dtype=torch.int32)
    if 0 < capacity < sure.numel():  # the engine calls it only then
        code._assign_draft_token_budget(sure, torch.arange(len(sure)), lengths, capacity, sure.shape[1])
    return lengths
