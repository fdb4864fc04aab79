"""FasterDecoding/REST: `evaluate_posterior` on one retrieved path, with a top-p that cuts nothing."""

from engines import theirs

code = theirs("FasterDecoding/REST", "rest/model/utils.py")


def verify(target_probs, rooted_tokens):
    _, accepted = code.evaluate_posterior(target_probs.log()[None], rooted_tokens[None], 1.0, 1 - 2**-24)
    return accepted, target_probs[accepted]  # its next call draws the next token from this row
