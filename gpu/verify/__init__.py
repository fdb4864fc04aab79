"""Verification algorithms in plain batched torch; `VERIFIERS` collects those of all files in this folder.

Each computes `Rates` from a `Batch`, which also holds all random numbers. The reference is the exact verifier
of the same name in theory/verifiers.
"""

from importlib import import_module
from pkgutil import iter_modules

from torch import Tensor

from draftproof.gpu.rows import Setting, probabilities
from draftproof.gpu.verify.batch import ERRORS, Batch, Drafts, Outcome
from draftproof.gpu.verify.verifier import Rates, Verifier
from draftproof.theory.errors import BadInput, quoted

_modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
_found = ((each.name, each) for module in _modules for each in getattr(module, "VERIFIERS", ()))
VERIFIERS: dict[str, Verifier] = dict(sorted(_found))
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name; if there is none, raises BadInput with the known names."""
    if name not in VERIFIERS:
        raise BadInput(f"no GPU verifier is named {quoted(name)}; there are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


def from_logits(
    name: str,
    batch: Batch,
    *,
    temperature: Setting = 1.0,
    top_k: int | Tensor = 0,
    top_p: Setting = 1.0,
    min_p: Setting = 0.0,
) -> Outcome:
    """`Verifier.verify` on logits: both sides become rows by the same settings (`rows.probabilities`).

    >>> import torch
    >>> from draftproof.gpu.draft import Tree
    >>> even, coin, extra = torch.zeros(1, 2, 4), torch.tensor([[0.5]]), torch.tensor([0.0])
    >>> from_logits("block", Batch(Tree.chain(1), even, even[:, :1], torch.tensor([[3]]), coin, extra)).node
    tensor([1])
    """
    rows = batch.map_rows(lambda logits: probabilities(logits, temperature, top_k, top_p, min_p))
    return named(name).verify(rows)


__all__ = ["ERRORS", "VERIFIERS", "Batch", "Drafts", "Outcome", "Rates", "Verifier", "from_logits", "named"]
