"""Verifiers of chains: token and block verification."""

import torch
from torch import constant_pad_nd as pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, drafted, rate
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


TOKEN = Verifier((CHAIN,), token_rates)
BLOCK = Verifier((CHAIN,), block_rates, upwards=True)
