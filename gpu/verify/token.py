"""Token verification: each drafted token on its own, from the first on."""

import torch
from torch import Tensor

from gpu.draft import Tree
from gpu.verify.residual import rate
from gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor, drawn: Tensor) -> Rates:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    gamma = tokens.shape[1]
    p = target[:, :-1].gather(2, tokens[..., None])[..., 0]
    q = proposal[:, :gamma].gather(2, tokens[..., None])[..., 0]
    one = torch.ones_like(target[:, :1, 0])
    accept = torch.cat((one, rate(p, q)), 1)
    cut = torch.cat((drawn[:, 1:].to(p), 0 * one), 1)
    return Rates(accept, cut)


VERIFIER = Verifier("token", (CHAIN,), rates)
