"""Verification algorithms in plain batched torch, one file each; `VERIFIERS` lists the folder.

All of them come to the same three things (`Rates`): a rate for every drafted node, a cut for every
row, an order in which nodes are asked. Coins are arguments, and so is the extra token's uniform.
The exact verifier of the same name in theory/verifiers is the reference.
"""

from importlib import import_module
from pkgutil import iter_modules

from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.rows import Setting, probabilities
from draftproof.gpu.verify.outcome import ERRORS, Outcome
from draftproof.gpu.verify.verifier import Rates, Verifier
from draftproof.theory.errors import BadInput, quoted


def _found() -> dict[str, Verifier]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [
        verifier
        for module in modules
        for verifier in getattr(module, "VERIFIERS", (getattr(module, "VERIFIER", None),))
        if verifier is not None
    ]
    return {verifier.name: verifier for verifier in sorted(found, key=lambda each: each.name)}


VERIFIERS: dict[str, Verifier] = _found()
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name; BadInput that lists the names when there is none.

    >>> named("rrs").drafts
    ('chain', 'tree without replacement')
    """
    if name not in VERIFIERS:
        raise BadInput(f"no GPU verifier is named {quoted(name)}; there are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


def from_logits(
    name: str,
    tree: Tree,
    target: Tensor,
    proposal: Tensor | None,
    tokens: Tensor,
    coins: Tensor,
    extra: Tensor,
    *,
    temperature: Setting = 1.0,
    top_k: int | Tensor = 0,
    top_p: Setting = 1.0,
    min_p: Setting = 0.0,
) -> Outcome:
    """`Verifier.verify` from logits: both sides become rows by the same settings (`draftproof.gpu.rows`).

    >>> import torch
    >>> even = torch.zeros(1, 2, 4)
    >>> noise = torch.tensor([[0.5]]), torch.tensor([0.0])
    >>> from_logits("block", Tree.chain(1), even, even[:, :1], torch.tensor([[3]]), *noise).node
    tensor([1])
    """
    settings = temperature, top_k, top_p, min_p
    rows = None if proposal is None else probabilities(proposal, *settings)
    return named(name).verify(tree, probabilities(target, *settings), rows, tokens, coins, extra)


__all__ = ["ERRORS", "VERIFIERS", "Outcome", "Rates", "Verifier", "from_logits", "named"]
