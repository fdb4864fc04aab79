"""vllm-project/vllm-ascend: the PyTorch functions of token and of block verification, one request of a batch.

One exponential race per request is shared by its positions, as in the engine; the bonus token is drawn from
the last row. Not run: the kernels for the accelerator, batches, reduced sampling, n-gram drafts.
"""

from functools import partial

import torch
from clones import Unpinned, clone
from engines import by_name, functions, with_bonus

FILE = clone("vllm-project/vllm-ascend", "vllm_ascend/sample/rejection_sampler.py")
RECOVER, RECOVER_BLOCK = "sample_recovered_tokens_pytorch", "sample_recovered_tokens_blockwise_pytorch"
VERIFY, VERIFY_BLOCK = "rejection_random_sample_pytorch", "rejection_random_sample_block_verify_pytorch"
names = {"torch": Unpinned(), "PLACEHOLDER_TOKEN_ID": -1}
code = functions(FILE, (RECOVER, RECOVER_BLOCK, VERIFY, VERIFY_BLOCK), names)


def token(target_probs, draft_probs, draft_tokens):
    return verified(code[RECOVER], code[VERIFY], target_probs, draft_probs, draft_tokens)


def block(target_probs, draft_probs, draft_tokens):
    recover = code.get(RECOVER_BLOCK) or code[RECOVER]  # earlier files have one for both
    return verified(recover, code[VERIFY_BLOCK], target_probs, draft_probs, draft_tokens)


def verified(recover, verify, p, q, x):
    """The emitted tokens of one request, by the file's two functions."""
    depth, vocab = q.shape
    rows = p[:-1].contiguous()
    uniforms = torch.rand(depth, dtype=torch.float32)
    race = torch.empty(1, vocab, dtype=torch.float32).exponential_()
    out = torch.full((1, depth + 1), -1, dtype=torch.int64)
    recovered = torch.empty(depth, dtype=torch.int64)
    ends, bonus, greedy = torch.tensor([depth]), torch.full((1, 1), vocab), torch.zeros(1, dtype=torch.bool)
    recover(recovered, ends, x, q, rows, race, vocab)
    known = {"max_spec_len": depth, "vocab_size": vocab, "num_draft_tokens_per_req": [depth]}
    by_name(partial(verify, out, ends, x, q, rows, bonus, recovered, uniforms, greedy), known)
    return with_bonus(out[0], p[-1])
