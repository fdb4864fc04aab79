"""sgl-project/sglang 0.5.23: which drafted tokens of a batch are verified, by confidence.

The confidence of a position is 1 - TV(p, q) after the drafted tokens before it, what a trained confidence
head is trained to predict. Not run: confidence heads, the size of the budget, lagged scores, the engine's own
verification of ragged batches.
"""

import inspect
from types import SimpleNamespace

import torch
from clones import clone
from engines import function_of

FILE = clone("sgl-project/sglang", "python/sglang/kernels/ops/speculative/dspark/dspark_schedule.py")
scheduled = function_of(FILE, "sglang", "schedule_verify_lens_topk")
by_confidence = "confidence" in inspect.signature(scheduled).parameters  # earlier files: by survival


def select(target_probs, draft_probs, draft_tokens, capacity):
    gamma = draft_tokens.shape[1]
    sure = torch.minimum(target_probs[:, :-1], draft_probs).sum(dim=-1)
    given = {"confidence": sure} if by_confidence else {"survival_probs": sure.cumprod(dim=1)}
    settings = SimpleNamespace(
        gamma=gamma,
        min_verify_len=1,
        survival_eps=1e-6,
        validate=lambda: None,
        resolved_max_verify_len=lambda: gamma + 1,
    )
    return scheduled(**given, budget=capacity, cfg=settings) - 1
