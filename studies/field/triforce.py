"""Infini-AI-Lab/TriForce, with the target as the middle model; the text is read from its streamed output."""

from types import SimpleNamespace

import torch
from clones import importable

importable("Infini-AI-Lab/TriForce", absent=("termcolor",))
from utils.decoding import TriForce


class Engine:
    def __init__(self, target, middle, draft):
        self.target, self.middle, self.small, self.ids = target, middle, draft, []
        nothing = SimpleNamespace(
            reset=lambda: None,
            print_status=lambda: None,
            start_size=0,
            recent_size=0,
            evict_for_spec=lambda _: None,
        )
        device = SimpleNamespace(device=target.device)
        self.engine = SimpleNamespace(kv_cache=self, graph_cache=nothing, draft_cache=nothing, model=device)
        self.reset = self.print_status = self.update_graph_cache = lambda: None
        self.graph_draft_prefill = lambda input_ids: None

    @property
    def seq_len(self):
        return len(self.ids)

    @seq_len.setter
    def seq_len(self, length):
        self.ids = self.ids[:length]

    def rows(self, model, ids):
        ids = ids.view(-1).tolist()
        return torch.stack([model.row([*self.ids, *ids[:n]][1:]) for n in range(1, len(ids) + 1)])

    def inference(self, input_ids):
        if input_ids.numel():
            logits = self.rows(self.target, input_ids)
            self.ids += input_ids.view(-1).tolist()
            return logits[None]
        return None

    def graph_draft_inference(self, input_ids, gamma_offset):
        return self.rows(self.small, input_ids)[-1].softmax(-1)

    def graph_verify(self, input_ids, position_ids):
        return self.rows(self.middle, input_ids).softmax(-1)


def generate(target, draft, prompt, length, gamma):
    seen = []
    tokens = SimpleNamespace(eos_token_id=-1, decode=lambda token, **_: seen.append(int(token)) or "")
    engine = Engine(target, target, draft)
    TriForce(tokens, engine, prompt, gamma, length - 1, top_k=-1, top_p=1.0, temperature=1.0, verbose=True)
    return seen
