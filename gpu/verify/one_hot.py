"""The top-k rule of EAGLE-2 and EAGLE-3: every drafted child is a proposal with q(x) = 1."""

from collections.abc import Iterator

import torch
from torch import Tensor

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import pick, rate, without
from draftproof.gpu.verify.verifier import ALL, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """Accept a child with probability p(x), else p(x) <- 0 and p <- norm(p)."""
    accept = [torch.ones_like(drafts.target[:, 0, 0])]
    for p, x, some, gone in children(drafts):
        left = torch.where(gone, 0.0, p)
        accept.append(rate(left.gather(1, x)[:, 0], torch.where(some, left.sum(-1), 1.0)))
    accept = torch.stack(accept, 1)
    return Rates(accept, torch.zeros_like(accept))


def children(drafts: Drafts) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Node by node: its parent's row p [B, V], its token [B, 1], whether it has drawn earlier siblings
    [B], and which tokens these are [B, V].
    """
    tree, target, tokens, drawn = drafts.tree, drafts.target, drafts.ids, drafts.drawn
    for i in range(1, tree.size):
        up = tree.parents[:, i]
        earlier = drawn[:, 1:i] & (tree.parents[:, 1:i] == up[:, None])
        gone = without(tokens[:, : i - 1], earlier, target.shape[-1])
        yield pick(target, up.expand(len(target))), tokens[:, i - 1 : i], earlier.any(-1), gone


VERIFIER = Verifier("one-hot", ALL, rates)
