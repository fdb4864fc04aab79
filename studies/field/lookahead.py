"""hao-ai-lab/LookaheadDecoding: `jacobi_sample_multilevel` as a whole, with n-grams of three tokens. In place
of its forward pass, the window's rows are the drafter's and the guesses' rows the target's.
"""

import random
from types import SimpleNamespace
from typing import Any, Optional, Union

import torch
from clones import clone
from engines import functions

FILE = clone("hao-ai-lab/LookaheadDecoding", "lade/decoding.py")
LEVEL, WINDOW, GUESS = 3, 2, 2


class Processors(list):
    def __call__(self, ids, scores):
        return scores


class Longest(list):
    """A criterion that stops at a length."""

    max_length = 0

    def __call__(self, ids, scores):
        return ids.shape[1] >= self.max_length


settings = {"WINDOW_SIZE": WINDOW, "GUESS_SET_SIZE": 2, "LEVEL": LEVEL}
names = {"torch": torch, "random": random, "Any": Any, "List": list, "Optional": Optional, "Union": Union}
names |= {"CONFIG_MAP": settings, "LogitsProcessorList": Processors, "StoppingCriteriaList": list}
names |= {"SampleOutput": Any, "filter_window": None}
code = functions(FILE, ("update_token_map", "jacobi_sample_multilevel"), names)


class Net:
    config = SimpleNamespace(is_encoder_decoder=False)

    def __init__(self, target, draft):
        self.target, self.draft, self.vocab_size = target, draft, target.rows.vocab
        self.generation_config = SimpleNamespace(
            pad_token_id=None,
            eos_token_id=None,
            output_scores=False,
            output_attentions=False,
            output_hidden_states=False,
            return_dict_in_generate=False,
        )

    def prepare_inputs_for_generation(self, ids, **_):
        self.text = ids[0, 1:].tolist()
        return {"input_ids": ids, "position_ids": torch.arange(ids.shape[1])[None]}

    def _update_model_kwargs_for_generation(self, outputs, model_kwargs, **_):
        return model_kwargs | {"past_key_values": outputs.past_key_values}

    def jforward_multilevel(self, guess_tokens, **_):
        paths = [guess_tokens[n : n + GUESS] for n in range(0, len(guess_tokens or []), GUESS)]
        rows = [self.target.row([*self.text, *path[: n + 1]]) for path in paths for n in range(GUESS)]
        return SimpleNamespace(
            out_logits=self.target.row(self.text)[None],
            inp_logits=self.draft.row(self.text).repeat(1, WINDOW, 1),
            guess_logits=torch.stack(rows)[None] if rows else None,
            past_key_values=[],
        )


def generate(target, draft, prompt, length):
    longest = Longest([SimpleNamespace(max_length=1 + length)])
    longest.max_length = 1 + length
    mask = torch.ones_like(prompt)
    theirs = code["jacobi_sample_multilevel"]
    return theirs(Net(target, draft), prompt, stopping_criteria=longest, attention_mask=mask)[0, 1:]
