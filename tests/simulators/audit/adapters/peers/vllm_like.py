"""Our own kernels behind the signature of vLLM's `rejection_sample`, one request at a time."""

import torch
from torch import nn
from vllm.logger import init_logger
from vllm.model_executor.warmup.jit_warmup_triton_helper import triton_kernel_dispatcher_with_warmup
from vllm.triton_utils import tl, triton
from vllm.v1.sample.metadata import SamplingMetadata

logger = init_logger(__name__)


class RejectionSampler(nn.Module):
    """What surrounds the function in the engine; nobody calls it here."""

    def forward(self, metadata: SamplingMetadata | None) -> None:
        logger.info("unused")


@triton.jit
def recover_kernel(ids_ptr, p_ptr, q_ptr, noise_ptr, V: tl.constexpr):
    pos = tl.program_id(0)
    ids = tl.arange(0, 16)
    p = tl.load(p_ptr + pos * V + ids, mask=ids < V, other=0.0)
    q = tl.load(q_ptr + pos * V + ids, mask=ids < V, other=0.0)
    score = tl.maximum(p - q, 0.0) * tl.load(noise_ptr + ids, mask=ids < V, other=0.0)
    _, winner = tl.max(tl.where(ids < V, score, float("-inf")), axis=0, return_indices=True)
    tl.store(ids_ptr + pos, winner)


@triton_kernel_dispatcher_with_warmup(kernel=recover_kernel, warmup_inputs=None)
def _recover(ids, p, q, noise):
    return (ids.shape[0],), {"V": p.shape[1]}


@triton.jit
def accept_kernel(out_ptr, drafts_ptr, p_ptr, q_ptr, bonus_ptr, ids_ptr, coins_ptr, n, V: tl.constexpr):
    going = True
    for pos in range(n):
        if going:
            x = tl.load(drafts_ptr + pos)
            at = pos * V + tl.maximum(x, 0)
            q = tl.where(x < 0, 0.0, tl.load(q_ptr + at))  # -1: a token that the grammar forbids
            if q > 0 and tl.load(p_ptr + at) / q >= tl.load(coins_ptr + pos):
                tl.store(out_ptr + pos, x)
            else:
                going = False
                tl.store(out_ptr + pos, tl.load(ids_ptr + pos))
    if going:
        tl.store(out_ptr + n, tl.load(bonus_ptr))


def rejection_sample(
    draft_token_ids,
    num_draft_tokens,
    max_spec_len,
    cu_num_draft_tokens,
    draft_probs,
    target_logits,
    bonus_token_ids,
    sampling_metadata,
    synthetic_mode=False,
):
    """Token verification; the recovered tokens of all positions race on one vector of noise."""
    out = torch.full((1, max_spec_len + 1), -1, dtype=torch.int32)
    p = target_logits.softmax(dim=-1)
    coins = torch.rand(len(draft_token_ids), dtype=torch.float64)
    noise = torch.empty(p.shape[1]).exponential_().reciprocal()
    ids = torch.empty_like(draft_token_ids)
    _recover(ids, p, draft_probs, noise)
    accept_kernel[(1,)](
        out, draft_token_ids, p, draft_probs, bonus_token_ids, ids, coins, max_spec_len, V=p.shape[1]
    )
    return out
