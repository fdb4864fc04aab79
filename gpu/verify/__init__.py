"""Verification algorithms in plain batched torch; `VERIFIERS` has those that theory/verifiers names.

Each computes `Rates` from a `Batch`, which also holds all random numbers. The reference is the exact verifier
of the same name in theory/verifiers.
"""

from dataclasses import replace
from typing import Any

from draftproof.gpu.sampling import rows
from draftproof.gpu.verify.batch import ERRORS, Batch, Drafts, Outcome
from draftproof.gpu.verify.verifier import Rates, Verifier
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.verifier import resolved
from draftproof.theory.verifiers import VERIFIERS as EXACT

VERIFIERS: dict[str, Verifier] = {
    each.name: replace(resolved(each.batched), name=each.name) for each in EXACT.values() if each.batched
}
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name; if there is none, raises BadInput with the known names."""
    if name not in VERIFIERS:
        raise BadInput(f"no GPU verifier is named {quoted(name)}; there are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


def from_logits(name: str, batch: Batch, **settings: Any) -> Outcome:
    """`Verifier.verify` on logits: both sides become rows by the same settings, which are the temperature,
    top_k, top_p and min_p of `rows.probabilities`, each a number or a tensor [B] with one for each request.

    >>> import torch
    >>> from draftproof.gpu.sampling.tree import Tree
    >>> even, coin, extra = torch.zeros(1, 2, 4), torch.tensor([[0.5]]), torch.tensor([0.0])
    >>> from_logits("block", Batch(Tree.chain(1), even, even[:, :1], torch.tensor([[3]]), coin, extra)).node
    tensor([1])
    """
    return named(name).verify(batch.map_rows(rows.settings(**settings).rows))


__all__ = ["ERRORS", "VERIFIERS", "Batch", "Drafts", "Outcome", "Rates", "Verifier", "from_logits", "named"]
