"""Batches to verify: logits as peaked as a language model's, and drafts sampled from them."""

from dataclasses import dataclass

import torch

from draftproof.gpu.drafters.structures import Sampled
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch

DRAFTS = {"chain": {}, "tree": {}, "tree+": {"replacement": True}, "strata": {"stratified": True}}
"""A chain, and a tree of 64 nodes whose siblings are drawn without or with replacement, or from strata."""


@dataclass(frozen=True)
class Case(Batch):
    """One batch of logits. `draft` is one of DRAFTS."""

    draft: str
    gamma: int

    @property
    def B(self) -> int:
        """Requests in the batch."""
        return self.target.shape[0]

    @property
    def V(self) -> int:
        """Size of the vocabulary."""
        return self.target.shape[2]

    @property
    def bytes(self) -> int:
        """Size of the target and proposal logits and of the strata, in bytes."""
        given = self.target, self.q, self.strata
        return sum(each.numel() * each.element_size() for each in given if each is not None)


def tree_of(draft: str, gamma: int) -> Tree:
    """A chain of gamma tokens, or a tree of 64 nodes in gamma levels of nearly equal size.

    In each level the first half of the nodes have two children each, the others none.
    """
    if draft == "chain":
        return Tree.chain(gamma)
    parents, above = [-1], [0]
    for level in range(gamma):
        first = len(parents)
        parents += [above[min(i // 2, len(above) - 1)] for i in range((63 + level) // gamma)]
        above = range(first, len(parents))
    return Tree(parents, **DRAFTS[draft])


def make(draft: str, gamma: int, V: int, B: int, device: torch.device, dtype: torch.dtype) -> Case:
    """A batch of cases; calls on the same kind of device make the same numbers.

    Target logits are -1.5 log(rank), with the ids in random order. The proposal's logits add normal noise of
    deviation 0.7. Requests are made one by one, so that memory use stays close to the size of the logits.
    """
    random = torch.Generator(device).manual_seed(0)
    shape = Sampled(draft, tree_of(draft, gamma)).to(device)
    tree, inner = shape.tree, torch.tensor(shape.tree.inner, dtype=torch.long, device=device)
    target = torch.empty(B, tree.size, V, dtype=dtype, device=device)
    proposal = torch.empty(B, len(inner), V, dtype=dtype, device=device)
    tokens = torch.empty(B, tree.size - 1, dtype=torch.long, device=device)
    strata = torch.empty(B, len(inner), V, device=device) if tree.stratified else None
    for b in range(B):
        rank = torch.rand(tree.size, V, generator=random, device=device) * V + 1
        target[b] = logits = -1.5 * rank.log()
        proposal[b] = logits[inner] + 0.7 * torch.randn(len(inner), V, generator=random, device=device)
        uniforms = torch.rand(1, tree.size - 1, generator=random, device=device)
        drawn = shape.drawn(proposal[b : b + 1].float(), uniforms)
        rows, tokens[b] = drawn.unscaled[0], drawn.tokens[0]
        for into, each in ((proposal, rows), (strata, drawn.strata)):
            if into is not None and each is not None:
                into[b] = each[0]
    coins = torch.rand(B, tree.size - 1, generator=random, device=device)
    extra = torch.rand(B, generator=random, device=device)  # contiguous, as another package's kernel assumes
    return Case(tree, target, proposal, tokens, coins, extra, draft, gamma, strata=strata)
