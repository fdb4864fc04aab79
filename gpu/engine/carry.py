"""The modified target that greedy block verification leaves behind a stop (sun2025block, appendix)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.verify.residual import drafted, pick


class Carry:
    """Modifications of the target that still apply, oldest first; each belongs to the block that was stopped.

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
    """[B, gamma + 1]: `start` times the joint probability of the first i tokens, 0 after one not drawn."""
    single = drafted(rows, tokens.clamp(min=0)).double()
    joint = torch.where(tokens >= 0, single, 0.0).cumprod(1)
    return start[:, None] * pad(joint, (1, 0), value=1)
