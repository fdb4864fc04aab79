"""transformers: assisted decoding with a Gemma 4 assistant, `do_sample=True`, on tables.

The candidate generator and `_speculative_sampling` are theirs; the loop between them is as in
`_assisted_decoding`. An embedding is the token's id, and the hidden state is the text before it.
"""

from types import SimpleNamespace

import clones  # noqa: F401 - prompts of one token
import torch
from transformers.generation.candidate_generator import SinglePositionMultiTokenCandidateGenerator
from transformers.generation.utils import _speculative_sampling


class Assistant:
    device = torch.device("cpu")

    def __init__(self, model, text):
        self.model, self.text = model, text

    def __call__(self, inputs_embeds, **_):
        self.text = [*self.text, int(inputs_embeds[0, 0, 0])]
        logits = self.model.row(self.text[1:])[None, None]
        return SimpleNamespace(logits=logits, last_hidden_state=torch.zeros(1, 1, 1))


def drafted(draft, text, gamma):
    """Their candidates after a text, whose first token is the prompt, and the rows said to be q."""
    drafter = object.__new__(SinglePositionMultiTokenCandidateGenerator)
    drafter.num_assistant_tokens, drafter.main_model_max_length = gamma, len(text) + gamma + 1
    drafter.is_main_model_prefill = True
    drafter.assistant_model = Assistant(draft, text[:-1])
    drafter.target_model_input_embeddings = lambda ids: ids[..., None].float()
    seen = SimpleNamespace(hidden_states=[torch.zeros(1, 1, 1)], shared_kv_states={})
    return drafter.get_candidates(torch.tensor([text]), {}, seen, is_first_iteration=False, n_last_matches=0)


def generate(target, draft, prompt, length, gamma):
    text = prompt[0].tolist()
    while len(text) <= length:
        candidates, q = drafted(draft, text, gamma)
        rows = [target.row(candidates[0, 1:end].tolist()) for end in range(len(text), len(text) + gamma + 1)]
        tokens, _ = _speculative_sampling(candidates, q, gamma, torch.stack(rows)[None])
        text += tokens[0].tolist()
    return text[1:]
