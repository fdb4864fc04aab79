"""Kaffaljidhmah2/SpecDec_pp: `my_assisted_decoding`, sampled, stopped by an acceptance head."""

import typing
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch
from clones import Padded, clone
from engines import functions

FILE = clone("Kaffaljidhmah2/SpecDec_pp", "specdec_pp/hf_generation.py")


def crop(model, cache, length):  # transformers' function of that time
    return tuple(tuple(each[:, :, :length] for each in layer) for layer in cache)


names = {
    **vars(typing),
    "torch": torch,
    "nn": torch.nn,
    "LogitsProcessorList": list,
    "StoppingCriteriaList": list,
    "_crop_past_key_values": crop,
}
decode = functions(FILE, ("my_assisted_decoding",), names)["my_assisted_decoding"]


class Stop(list):
    def __call__(self, ids, scores):
        return ids.shape[1] >= self[0].max_length


class Model(Padded):
    max_assistant_tokens = 1
    config = SimpleNamespace(is_encoder_decoder=False, architectures=None)
    generation_config = MagicMock(pad_token_id=None, eos_token_id=None, return_dict_in_generate=False)

    def __call__(self, ids, **more):
        made = super().__call__(ids, **more)
        made["hidden_states"] = (made.logits,)
        return made

    def _update_model_kwargs_for_generation(self, outputs, given, **_):
        return {**given, "past_key_values": outputs.past_key_values}


def head(hidden):
    return torch.stack([hidden[0] * 0, hidden[0]])


def generate(target, draft, prompt, length, gamma):
    prompt = prompt.repeat(1, 2)  # its caches start with the prompt without its last token
    stop = Stop([SimpleNamespace(max_length=2 + length)])
    ada = {"num_assistant_tokens_schedule": "ada", "assist_acc_head": head, "stop_threshold": 0.7}
    models = Model(target, 1), prompt, Model(draft, 1)
    text, *_ = decode(*models, do_sample=True, stopping_criteria=stop, bound=(1, gamma), **ada)
    return text[0, 2:]
