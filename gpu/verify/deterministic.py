"""Rules for deterministic drafts, which need no proposal: the top-k rule and naive speculative sampling."""

from collections.abc import Iterator

import torch
from torch import Tensor

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import pick, rate, without
from draftproof.gpu.verify.verifier import ALL, Rates, Verifier


def top_k_rates(drafts: Drafts) -> Rates:
    """EAGLE-2 and EAGLE-3, where every drafted child is a proposal with q(x) = 1: accept a child with
    probability p(x), else p(x) <- 0 and p <- norm(p).
    """
    accept = [torch.ones_like(drafts.target[:, 0, 0])]
    for p, x, earlier in _children(drafts):
        left = torch.where(earlier, 0.0, p)
        accept.append(rate(left.gather(1, x)[:, 0], torch.where(earlier.any(-1), left.sum(-1), 1.0)))
    accept = torch.stack(accept, 1)
    return Rates(accept, torch.zeros_like(accept))


def naive_rates(drafts: Drafts) -> Rates:
    """y ~ p; descend if y was drafted, else Y = y.

    One coin a node, that of its first child, draws y: the children lie one after the other on
    [0, 1), each as long as its p(x), and what is beyond them is Y, drawn with `extra`.
    """
    reach = [torch.ones_like(drafts.target[:, 0, 0])]
    for p, x, earlier in _children(drafts):
        reach.append(torch.where(earlier.scatter(1, x, True), p, 0.0).sum(-1))
    accept = torch.stack(reach, 1)
    return Rates(accept, torch.zeros_like(accept))


def _children(drafts: Drafts) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    # Node by node: its parent's row p [B, V], its token [B, 1], and its earlier siblings' tokens [B, V].
    tree, target, tokens, drawn = drafts.tree, drafts.target, drafts.ids, drafts.drawn
    for i in range(1, tree.size):
        up = tree.parents[:, i]
        earlier = drawn[:, 1:i] & (tree.parents[:, 1:i] == up[:, None])
        ids = without(tokens[:, : i - 1], earlier, target.shape[-1])
        yield pick(target, up.expand(len(target))), tokens[:, i - 1 : i], ids


VERIFIERS = (
    Verifier("one-hot", ALL, top_k_rates),
    Verifier("nss", ALL, naive_rates, one_coin=True),
)
