"""levvius/adaptive-speculative-decoding: `sp_samp`'s `speculative_sample`, on lists of probabilities."""

from types import SimpleNamespace

from clones import importable

importable("levvius/adaptive-speculative-decoding")
from sp_samp.sampling import speculative_sample


def model(table):
    return SimpleNamespace(
        vocab_size=table.config.vocab_size, next_token_probs=lambda text: table.row(text).softmax(-1).tolist()
    )


def generate(target, draft, prompt, length, gamma):
    return speculative_sample(model(target), model(draft), [], length, gamma)
