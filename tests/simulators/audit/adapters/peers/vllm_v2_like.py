"""Our own kernels behind the signature of the second runner's `rejection_sample`, one request at a time."""

import torch
from vllm.triton_utils import tl, tldevice, triton
from vllm.v1.worker.gpu.sample.gumbel import gumbel_block_argmax, tl_rand32


@triton.jit
def _accept_kernel(out_ptr, count_ptr, p_ptr, q_ptr, drafts_ptr, seed_ptr, pos_ptr, n, V: tl.constexpr):
    accepted = 0
    going = True
    for i in range(n):
        if going:
            x = tl.load(drafts_ptr + i + 1)
            u = tl_rand32(tl.load(seed_ptr), tl.load(pos_ptr + i), includes_zero=False)
            if tl.load(p_ptr + i * V + x) > tl.log(u) + tl.load(q_ptr + i * V + x):
                tl.store(out_ptr + i, x)
                accepted += 1
            else:
                going = False
    tl.store(count_ptr, accepted)


@triton.jit
def _draw_kernel(
    ids_ptr, best_ptr, count_ptr, p_ptr, q_ptr, map_ptr, temp_ptr, seed_ptr, pos_ptr, n, V: tl.constexpr
):
    row = tl.load(count_ptr)
    block = tl.arange(0, 8)
    mask = block < V
    logits = tl.load(p_ptr + row * V + block, mask=mask, other=float("-inf"))
    if row < n:
        ratio = tl.exp(tl.load(q_ptr + row * V + block, mask=mask, other=float("-inf")) - logits)
        logits = tl.where(ratio < 1.0, logits + tldevice.log1p(-ratio), float("-inf"))
    best, at = gumbel_block_argmax(logits, block, mask, row, map_ptr, temp_ptr, seed_ptr, pos_ptr, None)
    tl.store(ids_ptr, at)
    tl.store(best_ptr, best)


@triton.jit
def _insert_kernel(out_ptr, count_ptr, ids_ptr, best_ptr):
    best = tl.load(best_ptr)
    if best == best:  # not NaN
        tl.store(out_ptr + tl.load(count_ptr), tl.load(ids_ptr))
    tl.store(count_ptr, tl.load(count_ptr) + 1)


def rejection_sample(
    target_logits,
    draft_logits,
    draft_sampled,
    cu_num_logits,
    pos,
    idx_mapping,
    expanded_idx_mapping,
    expanded_local_pos,
    temperature,
    seed,
    num_speculative_steps,
):
    """Token verification in logarithms."""
    n, vocab = num_speculative_steps, target_logits.shape[1]
    p, q = target_logits.log_softmax(-1), draft_logits[0].log_softmax(-1)
    out, count = torch.full((1, n + 1), -1), torch.zeros(1, dtype=torch.int32)
    ids, best = torch.zeros(1, dtype=torch.int64), torch.zeros(1)
    _accept_kernel[(1,)](out, count, p, q, draft_sampled, seed, pos, n, V=vocab)
    _draw_kernel[(1,)](ids, best, count, p, q, expanded_idx_mapping, temperature, seed, pos, n, V=vocab)
    _insert_kernel[(1,)](out, count, ids, best)
    return out, count
