"""transformers: `generate` with a Gemma 4 assistant, `do_sample=True`, whole, on tables.

transformers tells by the names of the two classes how to draft. The assistant gets the embedding of a token,
its id, beside the target's hidden state before it, a number that spells the text up to there.
"""

import clones  # noqa: F401 - prompts of one token
import torch

from draftproof.simulators.audit.targets import models
from draftproof.simulators.audit.targets.pretrained import Pretrained


class Gemma4Table(Pretrained):
    def get_input_embeddings(self):
        vocab = self.model.rows.vocab
        return torch.nn.Embedding(vocab, 1, _weight=torch.arange(float(vocab))[:, None])

    def spelled(self, text):
        return float(sum((token + 1) * (self.model.rows.vocab + 1) ** at for at, token in enumerate(text)))

    def read(self, number):
        more, token = divmod(number, self.model.rows.vocab + 1)
        return [token - 1, *self.read(more)] if number else []

    def forward(self, input_ids=None, past_key_values=None, **_):
        made = super().forward(input_ids, past_key_values)
        text = past_key_values.layers[0].keys.flatten().int().tolist()
        ends = range(len(text) - input_ids.shape[1] + 1, len(text) + 1)
        made.hidden_states = (torch.tensor([[[self.spelled(text[:end])] for end in ends]]),)
        keys = past_key_values.layers[0].keys
        made.shared_kv_states = {"full": (keys, keys)}
        return made


class Gemma4AssistantTable(Gemma4Table):
    def forward(self, inputs_embeds, **_):
        token, before = inputs_embeds[0, 0].int().tolist()
        text = torch.tensor([[*self.read(before), token]])
        made = Pretrained.forward(self, text)
        made.logits = made.logits[:, -1:]
        made.last_hidden_state = torch.tensor([[[self.spelled(text[0].tolist())]]])
        return made


def generate(target, draft, prompt, length, gamma):
    """A token more is made, since nothing is drafted before the first."""
    assistant = Gemma4AssistantTable(draft, num_assistant_tokens=gamma)
    given = {"attention_mask": prompt * 0 + 1, "assistant_model": assistant, "do_sample": True}
    text = Gemma4Table(target).generate(prompt, max_new_tokens=length + 1, **given)
    return text[0, models.PROMPT :]
