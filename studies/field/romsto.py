"""romsto/Speculative-Decoding: `speculative_generate` without a cache, sampled; as a script, greedy.

TheAyos/openvla-mini-specdec has a copy: `python studies/field/romsto.py copy`.
"""

import sys

import torch
from clones import chain, importable, judge

from draftproof.simulators import audit

if sys.argv[1:] == ["copy"]:
    importable("TheAyos/openvla-mini-specdec", "experiments/specdec", absent=("termcolor",))
    from specdec_llm import GreedyProcessor, speculative_generate
else:
    importable("romsto/Speculative-Decoding", absent=("termcolor",))
    from sampling.speculative_decoding import speculative_generate
    from utils.logits_processor import GreedyProcessor, MultinomialProcessor


def decoded(target, draft, prompt, length, gamma, processor):
    tokens, _ = speculative_generate(
        prompt[0].tolist(),
        draft,
        target,
        gamma=gamma,
        logits_processor=processor,
        max_gen_len=length,
        eos_tokens_id=-1,
        first_target=False,
    )
    return tokens


def generate(target, draft, prompt, length, gamma):
    return decoded(target, draft, prompt, length, gamma, MultinomialProcessor(1.0))


def greedy(target, draft, prompt, length, gamma):
    """Logits (1, 0) and (0, 2) in place of the tables; greedy decoding writes token 0 only."""
    for model, row in ((target, [1.0, 0.0]), (draft, [0.0, 2.0])):
        model.row = lambda text, row=row: torch.tensor(row)
    return decoded(target, draft, prompt, length, gamma, GreedyProcessor())


if __name__ == "__main__":
    judge(audit.Loop(greedy), chain({(): [1, 0]}, {(): [1, 0]}))
