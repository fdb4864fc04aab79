"""ShopeeLLM/Spec-RL: `spec_cut` on an earlier rollout; the rollout goes on from the policy where it cuts."""

import torch
from engines import theirs

code = theirs("ShopeeLLM/Spec-RL", "verl/utils/speculative_decoding.py")


def verify(target_probs, draft_probs, draft_tokens):
    drafted = torch.arange(len(draft_tokens)), draft_tokens
    p, q = target_probs[drafted].log()[None], draft_probs[drafted].log()[None]
    kept = int(code.spec_cut(q, p, torch.ones_like(p))["cut_idx"])
    return kept, target_probs[kept]
