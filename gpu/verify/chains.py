"""Verifiers of chains: token, block and greedy block verification (with its modified target)."""

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, drafted, pick, rate, share
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
    return Rates(accept, pad(torch.where(there, (1 / before).clamp(max=LARGEST), 0.0), (0, 1)))


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


class Carry:
    """Modified targets of greedy block verification (sun2025block, appendix) that still apply, oldest first.

    For its next `left` [B] tokens a modification turns a row p into norm((P p - Q q)+), where P and Q are
    the joint probabilities of its block's tokens so far: Q under the proposal, P under the target with the
    older modifications. The exact form is theory/verifiers/greedy_block.py.
    """

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor, Tensor]] = []  # P [B], Q [B], left [B]
        self.along: list[tuple[Tensor, Tensor, Tensor]] = []  # P, Q [B, gamma + 1], rows with older layers

    def modified(self, target: Tensor, proposal: Tensor, tokens: Tensor) -> Tensor:
        """The modified target rows [B, gamma + 1, V], for the next verification."""
        rows, self.along = target, []
        for P, Q, left in self.layers:
            P, Q = _along(P, rows, tokens), _along(Q, proposal, tokens)
            self.along.append((P, Q, rows))
            p = rows[:, :-1].double()
            excess = (P[:, :-1, None] * p - Q[:, :-1, None] * proposal.double()).clamp(min=0)
            mass = excess.sum(-1, keepdim=True)
            applies = torch.arange(tokens.shape[1], device=left.device) < left[:, None]
            made = torch.where(applies[..., None] & (mass > 0), excess / mass, p)
            rows = torch.cat((made.to(target.dtype), rows[:, -1:]), 1)
        return rows

    def emit(self, rows: Tensor, proposal: Tensor, tokens: Tensor, tau: Tensor, extra: Tensor) -> None:
        """Follows tau [B] accepted tokens and the extra one; `rows` are those that `modified` returned."""
        gamma = tokens.shape[1]
        ones = torch.ones_like(tau, dtype=torch.double)
        own = (_along(ones, rows, tokens), _along(ones, proposal, tokens), rows)
        before = [*(left for _, _, left in self.layers), torch.full_like(tau, gamma)]
        self.layers = []
        for (P, Q, older), left in zip([*self.along, own], before, strict=True):
            if bool((left - tau - 1 > 0).any()):
                P = pick(P, tau) * pick(pick(older, tau), extra)
                Q = pick(Q, tau) * pick(pick(proposal, tau.clamp(max=gamma - 1)), extra)
                largest = torch.maximum(P, Q).clamp(min=1e-300)
                self.layers.append((P / largest, Q / largest, left - tau - 1))

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.layers = [(P[rows], Q[rows], left[rows]) for P, Q, left in self.layers]


def _along(start: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma + 1]: `start` times the joint probability of the first i tokens; 0 after a missing token."""
    single = drafted(rows, tokens.clamp(min=0)).double()
    joint = torch.where(tokens >= 0, single, 0.0).cumprod(1)
    return start[:, None] * pad(joint, (1, 0), value=1)


VERIFIERS = (
    Verifier("token", (CHAIN,), token_rates),
    Verifier("block", (CHAIN,), block_rates, upwards=True),
    Verifier("greedy-block", (CHAIN,), greedy_block_rates, upwards=True, modifies_target=True),
)
