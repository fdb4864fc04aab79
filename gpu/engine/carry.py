"""The modified target that greedy block verification leaves behind a stop (sun2025block, appendix)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.verify.residual import drafted, pick


class Carry:
    """Layers of modification, oldest first, each with what it needs of its block's prefix so far.

    For `left` [B] more tokens a layer makes a row p into norm((P p - Q q)+), where P and Q are the
    joint probabilities of its block's tokens up to there, P under the rows that the layers below
    make. The exact form is theory/verifiers/greedy_block.py.
    """

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor, Tensor]] = []  # P [B], Q [B], left [B]
        self.seen: list[tuple[Tensor, Tensor, Tensor]] = []  # P [B, gamma + 1], Q, rows below

    def modified(self, target: Tensor, proposal: Tensor, tokens: Tensor) -> Tensor:
        """The target rows [B, gamma + 1, V] that the next verification has to use."""
        rows = target
        self.seen = []
        for P, Q, left in self.layers:
            below = rows
            P, Q = _along(P, below, tokens), _along(Q, proposal, tokens)
            want = P[:, :-1, None] * below[:, :-1].double() - Q[:, :-1, None] * proposal.double()
            want = want.clamp(min=0)
            mass = want.sum(-1, keepdim=True)
            reach = torch.arange(tokens.shape[1], device=left.device) < left[:, None]
            made = torch.where(reach[..., None] & (mass > 0), want / mass, below[:, :-1].double())
            rows = torch.cat((made.to(target.dtype), below[:, -1:]), 1)
            self.seen.append((P, Q, below))
        return rows

    def emit(self, rows: Tensor, proposal: Tensor, tokens: Tensor, tau: Tensor, extra: Tensor) -> None:
        """Moves on over tau [B] accepted tokens and the extra one; `rows` are those of `modified`."""
        gamma = tokens.shape[1]
        ones = torch.ones_like(tau, dtype=torch.double)
        own = (_along(ones, rows, tokens), _along(ones, proposal, tokens), rows)
        left = [had - tau - 1 for _, _, had in self.layers] + [gamma - tau - 1]
        layers = []
        for (P, Q, below), owed in zip([*self.seen, own], left, strict=True):
            if bool((owed > 0).any()):
                P = pick(P, tau) * pick(pick(below, tau), extra)
                Q = pick(Q, tau) * pick(pick(proposal, tau.clamp(max=gamma - 1)), extra)
                most = torch.maximum(P, Q).clamp(min=1e-300)
                layers.append((P / most, Q / most, owed))
        self.layers = layers

    def keep(self, rows: list[int]) -> None:
        """Drops all rows of the batch but these."""
        self.layers = [(P[rows], Q[rows], left[rows]) for P, Q, left in self.layers]


def _along(start: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma + 1]: `start` times the joint probability of the first i tokens; those not drawn count 0."""
    single = drafted(rows, tokens.clamp(min=0)).double()
    joint = torch.where(tokens >= 0, single, 0.0).cumprod(1)
    return start[:, None] * pad(joint, (1, 0), value=1)
