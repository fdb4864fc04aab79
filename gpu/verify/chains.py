"""Verifiers of chains: token, block and greedy block verification."""

import torch
from torch import constant_pad_nd as pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.carry import Carry
from draftproof.gpu.verify.residual import LARGEST, drafted, rate, share
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier

HUGE = 1e18
"""The largest ratio of a token, so that products of many are finite."""


def token_rates(drafts: Drafts) -> Rates:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    p, q = drafted(drafts.target, drafts.ids), drafted(drafts.q, drafts.ids)
    return Rates(pad(rate(p, q), (1, 0), value=1), pad(drafts.there.to(p), (0, 1)))


def block_rates(drafts: Drafts) -> Rates:
    """w_i = min(1, w_{i-1} p/q);  A_i = sum (w_i p - q)+;  h_i = A_i / (A_i + 1 - w_i), and w at the end.

    w_i is also the joint ratio p/q of the first i tokens, over the largest one of the first 0, ..., i.

    Each i is accepted with probability h_i, and the stop is the last one accepted;
    Y ~ norm((w p - q)+), or p after the last token.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids), drafted(proposal, drafts.ids)
    steps = (p / q).nan_to_num(0.0, posinf=HUGE).double()
    joint = pad(steps.cumprod(1), (1, 0), value=1)
    w = (joint / joint.cummax(1).values).to(target)
    before, there = w[:, :-1], drafts.there
    A = (before[..., None] * target[:, :-1] - proposal[:, :gamma]).clamp(min=0).sum(-1)
    h = (A / (A + (1 - before))).nan_to_num(1.0)
    accept = torch.cat((torch.where(there, h, before), w[:, -1:]), 1)
    cut = pad(torch.where(there, before.reciprocal().clamp(max=LARGEST), 0.0), (0, 1))
    return Rates(accept, cut)


def greedy_block_rates(drafts: Drafts) -> Rates:
    """R_i = rho_1 ... rho_i;  D+ = sum (R_i p - q)+, D- = sum (q - R_i p)+, h_i = min(1, D+ / D-);
    min(1, R) at the end;  Y ~ norm((R p - q)+), or p after the last token.

    Lossless only if the next gamma - tau - 1 tokens get the modified target of
    theory/verifiers/greedy_block.py. If R exceeds 1, R p and q are both divided by R to avoid overflow.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids).double(), drafted(proposal, drafts.ids).double()
    steps = torch.where(p > 0, p / q, 0.0).clamp(max=LARGEST)
    R = pad(steps.cumprod(1).clamp(max=LARGEST), (1, 0), value=1)
    up, down = R.clamp(max=1).to(target), (1 / R).clamp(max=1).to(target)
    apart = up[:, :-1, None] * target[:, :-1] - down[:, :-1, None] * proposal[:, :gamma]
    h = share(apart.clamp(min=0).sum(-1), (-apart).clamp(min=0).sum(-1))
    h, goes_on = pad(h, (0, 1), value=1), pad(drafts.there, (0, 1))
    accept = torch.where(goes_on, torch.where(R > 0, h, 0.0), up)
    cut = (1 / R).clamp(max=LARGEST).to(target)
    return Rates(accept, torch.where(goes_on, cut, 0.0))


TOKEN = Verifier((CHAIN,), token_rates)
BLOCK = Verifier((CHAIN,), block_rates, upwards=True)
GREEDY_BLOCK = Verifier((CHAIN,), greedy_block_rates, upwards=True, carry=Carry)
