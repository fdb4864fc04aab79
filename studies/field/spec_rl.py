"""ShopeeLLM/Spec-RL: `spec_cut` on an earlier rollout; the rollout goes on from the policy where it cuts."""

import torch
from clones import clone
from engines import functions

FILE = clone("ShopeeLLM/Spec-RL", "verl/utils/speculative_decoding.py")
cut = functions(FILE, ("_rand_like_compat", "spec_cut"), {"torch": torch})["spec_cut"]


def verify(target_probs, draft_probs, draft_tokens):
    p, q = (
        rows[: len(draft_tokens)].gather(1, draft_tokens[:, None]).T.log()
        for rows in (target_probs, draft_probs)
    )
    kept = int(cut(q, p, torch.ones_like(p))["cut_idx"])
    return torch.cat([draft_tokens[:kept], torch.multinomial(target_probs[kept], 1)])
