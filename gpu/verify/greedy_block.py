"""Greedy block verification: uncapped ratios, and a modified target for the tokens that follow."""

import torch
from torch import Tensor

from gpu.draft import Tree
from gpu.verify.residual import LARGEST, share
from gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor, drawn: Tensor) -> Rates:
    """R_i = rho_1 ... rho_i;  D+ = sum (R_i p - q)+, D- = sum (q - R_i p)+, h_i = min(1, D+ / D-);
    min(1, R) at the end;  Y ~ norm((R p - q)+), p after the last.

    Lossless only if the next gamma - tau - 1 tokens get the modified target of theory/modified.py.
    Where R exceeds 1 both sides are divided by it, so that nothing overflows.
    """
    gamma = tokens.shape[1]
    p = target[:, :-1].gather(2, tokens[..., None])[..., 0].double()
    q = proposal[:, :gamma].gather(2, tokens[..., None])[..., 0].double()
    steps = torch.where(p > 0, p / q, 0.0).clamp(max=LARGEST)
    R = torch.cat((torch.ones_like(target[:, :1, 0]).double(), steps.cumprod(1).clamp(max=LARGEST)), 1)
    up, down = R.clamp(max=1).to(target), (1 / R).clamp(max=1).to(target)
    apart = up[:, :-1, None] * target[:, :-1] - down[:, :-1, None] * proposal[:, :gamma]
    h = share(apart.clamp(min=0).sum(-1), (-apart).clamp(min=0).sum(-1))
    h = torch.cat((h, torch.ones_like(up[:, :1])), 1)
    goes_on = torch.cat((drawn[:, 1:], torch.zeros_like(drawn[:, :1])), 1)
    accept = torch.where(goes_on, torch.where(R > 0, h, 0.0), up)
    cut = (1 / R).clamp(max=LARGEST).to(target)
    return Rates(accept, torch.where(goes_on, cut, 0.0))


VERIFIER = Verifier("greedy-block", (CHAIN,), rates, upwards=True)
