"""Our own kernel behind the launcher of LMDeploy's kernels, one request at a time."""

import torch
import triton
import triton.language as tl
from lmdeploy.pytorch.backends.rejection_sampling import PLACEHOLDER_TOKEN_ID


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


def random_rejection_sample(out, draft_token_ids, draft_probs, target_probs, bonus_token_ids):
    """Token verification."""
    n, vocab = draft_token_ids.shape[1], target_probs.shape[-1]
    coins, noise = torch.rand(n), torch.empty(vocab).exponential_()
    out.fill_(PLACEHOLDER_TOKEN_ID)
    _kernel[(1,)](out, draft_token_ids, target_probs, draft_probs, bonus_token_ids, coins, noise, n, V=vocab)
