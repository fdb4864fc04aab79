"""Greedy block verification: uncapped ratios, and a modified target for the tokens that follow."""

import torch
from torch.nn.functional import pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, drafted, share
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """R_i = rho_1 ... rho_i;  D+ = sum (R_i p - q)+, D- = sum (q - R_i p)+, h_i = min(1, D+ / D-);
    min(1, R) at the end;  Y ~ norm((R p - q)+), p after the last.

    Lossless only if the next gamma - tau - 1 tokens get the modified target of
    theory/verifiers/greedy_block.py. Where R exceeds 1 both sides are divided by it: nothing overflows.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids).double(), drafted(proposal, drafts.ids).double()
    steps = torch.where(p > 0, p / q, 0.0).clamp(max=LARGEST)
    R = pad(steps.cumprod(1).clamp(max=LARGEST), (1, 0), value=1)
    up, down = R.clamp(max=1).to(target), (1 / R).clamp(max=1).to(target)
    apart = up[:, :-1, None] * target[:, :-1] - down[:, :-1, None] * proposal[:, :gamma]
    h = share(apart.clamp(min=0).sum(-1), (-apart).clamp(min=0).sum(-1))
    h, goes_on = pad(h, (0, 1), value=1), pad(drafts.drawn[:, 1:], (0, 1))
    accept = torch.where(goes_on, torch.where(R > 0, h, 0.0), up)
    cut = (1 / R).clamp(max=LARGEST).to(target)
    return Rates(accept, torch.where(goes_on, cut, 0.0))


VERIFIER = Verifier("greedy-block", (CHAIN,), rates, upwards=True, modifies_target=True)
