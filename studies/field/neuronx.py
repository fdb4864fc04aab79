"""aws-neuron/transformers-neuronx: its acceptors, and its generation loop. Id 0 is its padding, so ids are
shifted by one."""

from types import SimpleNamespace

import torch
from clones import Tokens, clone
from engines import function_of

FILE = clone("aws-neuron/transformers-neuronx", "src/transformers_neuronx/speculation.py")
FIRST = {"sampling": SimpleNamespace(select_tokens=lambda scores: scores.argmax(1, keepdim=True))}
GIVEN = {"transformers_neuronx": FIRST}


def theirs(name):
    return function_of(FILE, "transformers_neuronx", name, GIVEN)


Reference, Default = theirs("ReferenceTokenAcceptor"), theirs("DefaultTokenAcceptor")
Generator, Drafter = theirs("SpeculativeGenerator"), theirs("DraftModelForSpeculation")


def shifted(rows):
    return torch.nn.functional.pad(rows.log(), (1, 0), value=float("-inf"))


def reference(target_probs, draft_probs, draft_tokens):
    return Reference()(draft_tokens[None], draft_probs.log(), target_probs.log())[0]


def first(target_probs, draft_probs, draft_tokens):
    ids = Default()(draft_tokens[None] + 1, shifted(draft_probs)[None], shifted(target_probs)[None])[0]
    return ids[ids > 0] - 1


def second(target_probs, draft_probs, draft_tokens):
    """The second request of a batch, whose first has the same draft on uniform rows."""
    even = [torch.full_like(rows, 1 / rows.shape[1]) for rows in (draft_probs, target_probs)]
    q, p = torch.stack([even[0], draft_probs]), torch.stack([even[1], target_probs])
    ids = Default()(torch.stack([draft_tokens, draft_tokens]) + 1, shifted(q), shifted(p))[1]
    return ids[ids > 0] - 1


def counted(target_probs, draft_probs, draft_tokens):
    """As line 823 counts the tokens, without the shift."""
    ids = Default()(draft_tokens[None], draft_probs.log()[None], target_probs.log()[None])
    return ids[0, : int(torch.count_nonzero(ids))]


class Net(Tokens):
    def __call__(self, ids, cache_ids, start_ids):
        return self.rows(ids, 0 if cache_ids is None else int(cache_ids))[-1:]

    def rows(self, ids, start):
        rows = self.at(range(start, start + ids.shape[1]), ids[0] - 1)
        return torch.nn.functional.pad(rows, (1, 0), value=float("-inf"))

    def speculative_forward(self, input_ids, cache_ids, **_):
        return self.rows(input_ids, int(cache_ids[0]))[:, :, None]


def loop(target, draft, prompt, length, gamma):
    """Its first token is always greedy (line 744); it counts as the end of the prompt here."""
    generator = Generator(Drafter(Net(draft, 2)), Net(target, 2), gamma + 1)
    return generator.sample(prompt + 1, length + 2)[0, 2:] - 1
