"""tanishqkumar/ssd, speculative speculative decoding: `verify` of one request at temperature 1, on a hit of
the speculation cache and on a miss, which is also what the synchronous mode runs without `jit_speculate`.

Not run: `sampler_x`, other temperatures, what is drafted on a miss, the processes around it.
"""

import torch
from engines import theirs

code = theirs("tanishqkumar/ssd", "ssd/utils/verify.py")


def hit(target_logits, draft_logits, rooted_tokens, cached=True):
    warm, hits = torch.ones(1), torch.tensor([cached])
    words, last = code.verify(target_logits[None], draft_logits[None], rooted_tokens[None], warm, warm, hits)
    return words[0][1:] + last


def miss(target_logits, draft_logits, rooted_tokens):
    return hit(target_logits, draft_logits, rooted_tokens, False)
