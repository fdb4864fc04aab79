"""Verifiers of chains: token verification, block verification, greedy block verification."""

import torch
from torch.nn.functional import pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, drafted, rate, share
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier


def token_rates(drafts: Drafts) -> Rates:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    p, q = drafted(drafts.target, drafts.ids), drafted(drafts.q, drafts.ids)
    return Rates(pad(rate(p, q), (1, 0), value=1), pad(drafts.drawn[:, 1:].to(p), (0, 1)))


def block_rates(drafts: Drafts) -> Rates:
    """w_i = min(1, w_{i-1} p/q);  A_i = sum (w_i p - q)+;  h_i = A_i / (A_i + 1 - w_i), and w at the end.

    The stop is the last i accepted with probability h_i; Y ~ norm((w p - q)+), p after the last.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids), drafted(proposal, drafts.ids)
    w = [torch.ones_like(target[:, 0, 0])]
    for i in range(gamma):
        w.append(rate(w[-1] * p[:, i], q[:, i]))
    w = torch.stack(w, 1)
    goes_on = pad(drafts.drawn[:, 1:], (0, 1))
    A = pad((w[:, :-1, None] * target[:, :-1] - proposal[:, :gamma]).clamp(min=0).sum(-1), (0, 1))
    accept = torch.where(goes_on, share(A, A + (1 - w)), w)
    return Rates(accept, torch.where(goes_on, (1 / w).clamp(max=LARGEST), 0.0))


def greedy_block_rates(drafts: Drafts) -> Rates:
    """R_i = rho_1 ... rho_i;  D+ = sum (R_i p - q)+, D- = sum (q - R_i p)+, h_i = min(1, D+ / D-);
    min(1, R) at the end;  Y ~ norm((R p - q)+), p after the last.

    Lossless only if the next gamma - tau - 1 tokens get the modified target of
    theory/verifiers/greedy_block.py. If R exceeds 1 both terms of the difference are divided by it, so that
    nothing overflows.
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


VERIFIERS = (
    Verifier("token", (CHAIN,), token_rates),
    Verifier("block", (CHAIN,), block_rates, upwards=True),
    Verifier("greedy-block", (CHAIN,), greedy_block_rates, upwards=True, modifies_target=True),
)
