"""FasterDecoding/Medusa: `evaluate_posterior` on one path; the token after it is drawn as its
`generate_candidates` does.
"""

import torch
from engines import theirs

code = theirs("FasterDecoding/Medusa", "medusa/model/utils.py")


def nucleus(p_logits, rooted_tokens):
    _, n = code.evaluate_posterior(p_logits[None], rooted_tokens[None], 1.0, sampling="nucleus", top_p=1.0)
    return n, code.get_nucleus_one_token(p_logits[n][None], 1.0, 1.0)


def typical(p_logits, rooted_tokens):
    """The fast form, which accepts by a threshold; the last token is drawn from its row."""
    _, n = code.evaluate_posterior(p_logits[None], rooted_tokens[None], 1.0, sampling="typical", fast=True)
    return torch.cat([rooted_tokens[1 : n + 1], torch.multinomial(p_logits[n].softmax(-1), 1)])
