"""sail-sg/LongSpec: its sampled generation loop, and its tree verification on one child."""

import random
import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch
from clones import Output, Tokens, WithoutCuda, clone
from engines import method

FILE = clone("sail-sg/LongSpec", "longspec/test/llama_glide.py")
NAMES = {"torch": WithoutCuda(), "F": torch.nn.functional, "time": time, "random": random}


class Net(Tokens):
    """Hidden states are logits, embeddings are ids, and positions stand for their embedding."""

    layers = (MagicMock(),)
    embed_tokens = staticmethod(lambda ids: ids)
    rotary_emb = staticmethod(lambda ids, positions: positions)
    set_max_gen_len = staticmethod(lambda length: None)

    def forward(self, ids, cache_lens=0, **_):
        positions = torch.arange(ids.shape[1]) + cache_lens
        return Output(last_hidden_state=self.at(positions, ids[0])[None])

    def __call__(self, hidden_states, position_embeddings, **_):
        return self.at(position_embeddings[0], hidden_states[0])[None]


def generate(target, draft, prompt, length, gamma):
    """Its first token is always greedy; it counts as the end of the prompt here."""
    code = SimpleNamespace(
        model=Net(target, 2),
        glide=Net(draft, 2),
        lm_head=lambda hidden: hidden,
        set_max_gen_len=lambda length: None,
        vocab_size=target.rows.vocab,
        config=SimpleNamespace(eos_token_id=-1),
    )
    theirs = method(FILE, "spec_generate", NAMES)
    text, *_ = theirs(code, prompt, 1, gamma=gamma, max_gen_len=length + 1, temperature=1.0)
    return text[0, 1 : 1 + length]


def tree(target_probs, draft_probs, draft_tokens):
    mask = torch.ones(2, 2, dtype=torch.int64).tril()[None]
    code = SimpleNamespace(
        diag_matrix=torch.eye(2, dtype=torch.int64)[None], range_tensor=torch.arange(2)[None]
    )
    ids = torch.cat([torch.zeros(1, dtype=torch.int64), draft_tokens[:1]])[None]
    p, q = target_probs[:2].log()[None], draft_probs[:1].log().repeat(2, 1)[None]
    words, count = method(FILE, "verify_stochastic", NAMES)(code, ids, mask, p, q, 1.0)
    return words[0, 1 : int(count)]
