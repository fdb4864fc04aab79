"""Naive speculative sampling: draw from the target, and see whether it was drafted."""

import torch

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.one_hot import children
from draftproof.gpu.verify.verifier import ALL, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """y ~ p; descend if y was drafted, else Y = y.

    One coin a node, that of its first child, draws y: the children lie one after the other on
    [0, 1), each as long as its p(x), and what is beyond them is Y, drawn with `extra`.
    """
    reach = [torch.ones_like(drafts.target[:, 0, 0])]
    for p, x, _, before in children(drafts):
        reach.append(torch.where(before.scatter(1, x, True), p, 0.0).sum(-1))
    accept = torch.stack(reach, 1)
    return Rates(accept, torch.zeros_like(accept))


VERIFIER = Verifier("nss", ALL, rates, one_coin=True)
