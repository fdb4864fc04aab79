"""Our own kernels behind the signature of LMDeploy's `rejection_sample`, one request at a time."""

import torch
import triton
import triton.language as tl
from lmdeploy.pytorch.engine.logits_process import SamplingInputs


@triton.jit
def _kernel(out_ptr, drafts_ptr, p_ptr, q_ptr, bonus_ptr, coins_ptr, noise_ptr, n, V: tl.constexpr):
    ids = tl.arange(0, 8)
    going = True
    for pos in range(n):
        if going:
            x = tl.load(drafts_ptr + pos)
            p = tl.load(p_ptr + pos * V + ids, mask=ids < V, other=0.0)
            q = tl.load(q_ptr + pos * V + ids, mask=ids < V, other=0.0)
            if tl.load(coins_ptr + pos) * tl.load(q_ptr + pos * V + x) < tl.load(p_ptr + pos * V + x):
                tl.store(out_ptr + pos, x)
            else:
                going = False
                noise = tl.load(noise_ptr + ids, mask=ids < V, other=1.0)
                tl.store(out_ptr + pos, tl.argmax(tl.maximum(p - q, 0.0) / noise, axis=0))
    if going:
        tl.store(out_ptr + n, tl.load(bonus_ptr))


def rejection_sample(
    target_logits, draft_token_ids, bonus_token_ids, sampling_inputs: SamplingInputs, draft_probs=None
):
    """Token verification."""
    p, n = target_logits.softmax(-1), draft_token_ids.shape[1]
    out = torch.full((1, n + 1), -1)
    coins, noise = torch.rand(n), torch.empty(p.shape[-1]).exponential_()
    _kernel[(1,)](out, draft_token_ids, p, draft_probs, bonus_token_ids, coins, noise, n, V=p.shape[-1])
    return out, None, None
