"""What torch adapters share: a function of tensors, of probabilities or of logits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.targets import Arrays, Function
from draftproof.theory.draft import Draft
from draftproof.theory.table import Rows


class TorchChain(Function):
    """verify(target, draft, tokens) in torch tensors; with `logits` the rows are logarithms.

    Target logits are shifted by a constant, as real models' are: equal laws then differ in the
    last bit, which is where a residual vanishes by rounding.
    """

    def __init__(self, verify: Callable[..., Any], *, name: str, logits: bool = False, slow: bool = False):
        super().__init__(verify, name=name, dtype="float32", tensors=True)
        self.logits, self.slow, self.adapter = logits, slow, name.split(" ")[0]

    def prepare(self, target: Rows, draft: Draft) -> Arrays:
        p, q, x = super().prepare(target, draft)
        if self.logits:
            with np.errstate(divide="ignore"):
                p, q = (np.log(p) + np.float32(SHIFT)).astype(p.dtype), np.log(q).astype(q.dtype)
        return p, q, x


def with_bonus(words: Any, row: Any) -> Any:
    """The emitted tokens, without padding of -1; an id V at the end stands for a draw from the row."""
    import torch

    words = words[words >= 0]
    if int(words[-1]) < len(row):
        return words
    return torch.cat([words[:-1].long(), torch.multinomial(row, 1)])
