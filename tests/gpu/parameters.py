"""Sampling parameters that change greedy texts, by name; their ids fit every small network of the tests."""

from typing import Any

from draftproof.theory.targets.processors import Mask
from tests.gpu.small import VOCAB as WORDS

THREES = Mask("0", {str(n): {str(x): str((n + x) % 3) for x in range(WORDS) if x % 3 != n} for n in range(3)})
"""After tokens whose ids sum to n modulo 3, ids equal to n modulo 3 are forbidden."""


def no_repeats(input_ids, scores):
    """No pair of tokens occurs twice, as transformers' NoRepeatNGramLogitsProcessor has it."""
    from transformers import NoRepeatNGramLogitsProcessor

    return NoRepeatNGramLogitsProcessor(2)(input_ids, scores)


SETS: dict[str, dict[str, Any]] = {
    "repetition": {"repetition_penalty": 1.5},
    "negative repetition": {"repetition_penalty": 0.8},
    "presence": {"presence_penalty": 2.5},
    "frequency": {"frequency_penalty": 0.8},
    "bias": {"logit_bias": {3: 2.5, 7: -100.0, 9: -float("inf")}},
    "bad words": {"bad_words_ids": [[14], [20, 7], [9, 32], [7, 32, 22], [20, 8, 9]]},
    "grammar": {"grammar": THREES},
    "function": {"logits_processor": [no_repeats]},
    "all": {
        "repetition_penalty": 1.2,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.3,
        "logit_bias": {2: 1.5},
        "bad_words_ids": [[5], [1, 2]],
        "grammar": THREES,
        "logits_processor": [no_repeats],
    },
}
