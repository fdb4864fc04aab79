"""Benchmark inputs: logits as peaked as a language model's, and drafts sampled from them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify import Batch


@dataclass(frozen=True)
class Case(Batch):
    """One batch of logits. `draft` is "chain" or "tree"; the tree has 64 nodes, drawn without replacement."""

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
        """Size of the target and proposal logits, in bytes."""
        return sum(each.numel() * each.element_size() for each in (self.target, self.q))


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
    return Tree(parents)


def make(draft: str, gamma: int, V: int, B: int, device: torch.device, dtype: torch.dtype) -> Case:
    """A batch of cases; calls on the same kind of device make the same numbers.

    Target logits are -1.5 log(rank), with the ids in random order. The proposal's logits add normal noise of
    deviation 0.7. Requests are made one by one, so that memory use stays close to the size of the logits.
    """
    random = torch.Generator(device).manual_seed(0)
    tree = tree_of(draft, gamma).to(device)
    inner = torch.tensor(tree.inner, dtype=torch.long, device=device)
    target = torch.empty(B, tree.size, V, dtype=dtype, device=device)
    proposal = torch.empty(B, len(inner), V, dtype=dtype, device=device)
    tokens = torch.empty(B, tree.size - 1, dtype=torch.long, device=device)
    for b in range(B):
        rank = torch.rand(tree.size, V, generator=random, device=device) * V + 1
        logits = -1.5 * rank.log()
        target[b] = logits
        proposal[b] = logits[inner] + 0.7 * torch.randn(len(inner), V, generator=random, device=device)
        tokens[b] = _drawn(tree, proposal[b].float(), random)
    coins = torch.rand(B, tree.size - 1, generator=random, device=device)
    extra = torch.rand(B, generator=random, device=device)  # contiguous, as another package's kernel assumes
    return Case(tree, target, proposal, tokens, coins, extra, draft, gamma)


def _drawn(tree: Tree, logits: Tensor, random: torch.Generator) -> Tensor:
    # Children are drawn without replacement: the ids with the largest logits plus Gumbel noise.
    parents = tree.parents[0].tolist()
    inner = tree.inner or ()
    most = max((parents[1:].count(f) for f in inner), default=0)
    uniform = torch.rand(logits.shape, generator=random, device=logits.device)
    best = (logits - (-uniform.log()).log()).topk(min(most, logits.shape[-1])).indices.tolist()
    children = {f: iter(row) for f, row in zip(inner, best, strict=True)}
    return torch.tensor([next(children[f], -1) for f in parents[1:]], device=logits.device)
