"""sgl-project/sglang 0.5.23: which drafted tokens of a batch are verified, by confidence.

The confidence of a position is 1 - TV(p, q) after the drafted tokens before it, what a trained confidence
head is trained to predict. Not run: confidence heads, the size of the budget, lagged scores, the engine's own
verification of ragged batches.
"""

from unittest.mock import Mock

import torch
from engines import by_name, theirs

code = theirs("sgl-project/sglang", "python/sglang/kernels/ops/speculative/dspark/dspark_schedule.py")


def select(target_probs, draft_probs, draft_tokens, capacity):
    sure, gamma = torch.minimum(target_probs[:, :-1], draft_probs).sum(dim=-1), draft_tokens.shape[1]
    settings = Mock(gamma=gamma, min_verify_len=1, survival_eps=1e-6)
    settings.resolved_max_verify_len.return_value = gamma + 1
    # earlier files take the survival
    given = {"confidence": sure, "survival_probs": sure.cumprod(dim=1), "budget": capacity, "cfg": settings}
    return by_name(code.schedule_verify_lens_topk, given) - 1
