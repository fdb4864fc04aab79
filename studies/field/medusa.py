"""FasterDecoding/Medusa: `evaluate_posterior` on one path; the token after it is drawn as its
`generate_candidates` does.
"""

from engines import theirs

code = theirs("FasterDecoding/Medusa", "medusa/model/utils.py")


def nucleus(target_logits, rooted_tokens):
    given = target_logits[None].clone(), rooted_tokens[None], 1.0
    _, accepted = code.evaluate_posterior(*given, sampling="nucleus", top_p=1.0)
    return accepted, code.get_nucleus_one_token(target_logits[accepted][None], 1.0, 1.0)


def typical(target_logits, rooted_tokens):
    """The fast form, which accepts by a threshold; the last token is drawn from its row."""
    _, accepted = code.evaluate_posterior(target_logits[None], rooted_tokens[None], 1.0, sampling="typical")
    return accepted, target_logits[accepted].softmax(-1)
