"""NJUNLP/MCSD: `BatchStrategy` with two candidates for one token; logits stand for hidden
states.
"""

from types import SimpleNamespace

import torch
from clones import importable

importable("NJUNLP/MCSD", "MCSD/inference")
import strategies


class Net:
    def __init__(self, model):
        self.table, self.model, self.lm_head = model, self, lambda hidden: hidden
        self.get_input_embeddings = lambda: SimpleNamespace(weight=torch.zeros(1))

    def __call__(self, input_ids, past_key_values=None, **_):
        out = self.table(input_ids, past_key_values)
        return SimpleNamespace(last_hidden_state=out.logits, past_key_values=out.past_key_values)


def generate(target, draft, prompt, length, **options):
    strategy = strategies.BatchStrategy(Net(draft), Net(target), (2,), **options)
    ids, caches = prompt, (None, None)
    while ids.shape[1] <= length:
        drafted = strategy.generate_draft(ids, caches[0])
        out = strategy.verify(drafted.sequences, caches[1], drafted.past_key_values, drafted.cand_probs)
        ids = out.sequences
        caches = out.draft_model_past_key_values, out.target_model_past_key_values
    return ids[0, 1:]


def replaced(target, draft, prompt, length):
    return generate(target, draft, prompt, length, replacement=True)
