"""romsto/Speculative-Decoding: `speculative_generate` without a cache."""

from clones import importable

importable("romsto/Speculative-Decoding", absent=("termcolor",))
from sampling.speculative_decoding import speculative_generate
from utils.logits_processor import MultinomialProcessor


def generate(target, draft, prompt, length, gamma):
    tokens, _ = speculative_generate(
        prompt[0].tolist(),
        draft,
        target,
        gamma=gamma,
        logits_processor=MultinomialProcessor(1.0),
        max_gen_len=length,
        eos_tokens_id=-1,
        first_target=False,
    )
    return tokens
