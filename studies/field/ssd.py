"""tanishqkumar/ssd, speculative speculative decoding: `verify` of one request at temperature 1, on a hit of
the speculation cache and on a miss, which is also what the synchronous mode runs without `jit_speculate`.

Not run: `sampler_x`, other temperatures, what is drafted on a miss, the processes around it.
"""

import torch
from clones import clone
from engines import function_of

theirs = function_of(clone("tanishqkumar/ssd", "ssd/utils/verify.py"), "ssd", "verify")


def hit(target_logits, draft_logits, draft_tokens, cached=True):
    speculations = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    warm, hits = torch.ones(1), torch.tensor([cached])
    words, last = theirs(target_logits[None], draft_logits[None], speculations, warm, warm, hits)
    return [*map(int, words[0][1:]), int(last[0])]


def miss(target_logits, draft_logits, draft_tokens):
    return hit(target_logits, draft_logits, draft_tokens, False)
