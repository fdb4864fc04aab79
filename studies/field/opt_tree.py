"""Jikai0Wang/OPT-Tree: `verify` on a tree of the drafter's two likeliest tokens."""

from types import SimpleNamespace

import torch
from clones import clone
from engines import functions

FILE = clone("Jikai0Wang/OPT-Tree", "opt_classic/utils.py")
verify = functions(FILE, ("verify",), {"torch": torch})["verify"]


def generate(target, draft, prompt, length):
    """The root's two children are leaves; ids that are drafted next come from `draft` here, not from it."""
    text, last, tree = [], target.row([]).softmax(-1).multinomial(1).tolist(), torch.zeros(2, 2)
    model = SimpleNamespace(draft=lambda *_: (torch.zeros(1, 2), torch.tensor([2, 2]), tree, None))
    while len(text) + 1 < length:
        best = draft.row([*text, *last]).topk(2).indices.tolist()
        paths = [[*text, *last], *([*text, *last, token] for token in best)]
        found = verify(
            torch.tensor([text], dtype=torch.int64),
            torch.stack([target.row(path) for path in paths])[None],
            torch.tensor([[*last, *best]]),
            torch.tensor([1, 2, 2]),
            None,
            [torch.zeros(1, 3, 1)],
            torch.tensor([3]),
            torch.tensor([-1, -1]),
            model,
            2,
            0.0,
            1,
            lambda ids, logits: logits,
        )
        text, last = found[0][0].long().tolist(), found[3][0, :1].long().tolist()
    return [*text, *last]
