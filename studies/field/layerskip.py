"""facebookresearch/LayerSkip, with its two forward passes replaced: the early layers are the drafter, all
layers the target.
"""

from types import SimpleNamespace

from clones import importable

importable("facebookresearch/LayerSkip")
from self_speculation import self_speculation_generator as code
from self_speculation.generator_base import GenerationConfig


def early(pair, ids, cache, *_):
    out = pair.draft(ids, cache)
    return SimpleNamespace(logits=out.logits, past_key_values=out.past_key_values, exit_query_cache=None)


def remainder(pair, ids, cache, *_):  # the drafted tokens, but the last, are in the cache already
    before = cache[0][0][:, :, : cache[0][0].shape[2] - ids.shape[1] + 1] if cache else None
    known = ((before, before),) if cache and before.shape[2] else None
    return pair.target(ids.long(), known)


code.forward_early, code.forward_remainder = early, remainder


def generate(target, draft, prompt, length, gamma):
    pair = SimpleNamespace(target=target, draft=draft, device=prompt.device)
    config = GenerationConfig(length, 1, gamma, sample=True, temperature=1.0, top_k=0, top_p=1.0)
    strategy = code.SelfSpeculativeGenerationStrategy()
    return strategy.generate_token_ids(pair, prompt[0].tolist(), [-1], config).predicted_tokens
