"""Tables as real models of transformers, so that its own `generate` is judged whole."""

from typing import Any

import torch
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from draftproof.simulators.audit.targets.models import Model


class Pretrained(PreTrainedModel, GenerationMixin):
    """A causal language model, ids [1, T] -> logits [1, T, V], whose rows are a table's and whose cache holds
    the tokens themselves, with these settings of its `generation_config`.
    """

    def __init__(self, model: Model, **settings: Any):
        sizes: Any = dict.fromkeys(("hidden_size", "num_hidden_layers", "num_attention_heads"), 1)
        super().__init__(PretrainedConfig(**sizes | {"vocab_size": model.rows.vocab}))
        self.model, self.none = model, torch.nn.Parameter(torch.zeros(1))
        self.generation_config.update(pad_token_id=0, **settings)

    def forward(
        self, input_ids: Any = None, past_key_values: Any = None, logits_to_keep: int = 0, **_: Any
    ) -> CausalLMOutputWithPast:
        made = self.model(input_ids, past_key_values, past_key_values is not None, logits_to_keep)
        return CausalLMOutputWithPast(**vars(made))
