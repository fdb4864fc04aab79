"""Modified targets in batches: what greedy block verification leaves behind after a stop."""

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.verify.residual import drafted, pick


class Carry:
    """Modified targets that still apply, oldest first: what blocks that stopped early left behind
    (sun2025block, appendix). The exact form is theory/verifiers/greedy_block.py.

    Of each block, P and Q are the joint probabilities of its tokens so far: Q under the proposal, P under the
    target with the older modifications; `left` tokens remain to its end.
    """

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, ...]] = []  # P, Q, left [B]
        self.along: list[tuple[Tensor, ...]] = []  # P, Q [B, gamma + 1], rows with older layers

    def changed(self, rows: Tensor, proposal: Tensor, P: Tensor, Q: Tensor, left: Tensor) -> Tensor:
        """The rows [B, gamma + 1, V] with one modification, whose P and Q [B, gamma + 1] along the rows are
        given: before the block's end a row p becomes norm((P p - Q q)+).
        """
        p, q = rows[:, :-1].double(), proposal[:, : rows.shape[1] - 1].double()
        excess = (P[:, :-1, None] * p - Q[:, :-1, None] * q).clamp(min=0)
        whole = excess.sum(-1, keepdim=True)
        applies = torch.arange(p.shape[1], device=left.device) < left[:, None]
        made = torch.where(applies[..., None] & (whole > 0), excess / whole, p)
        return torch.cat((made.to(rows.dtype), rows[:, -1:]), 1)

    def modified(self, target: Tensor, proposal: Tensor, tokens: Tensor) -> Tensor:
        """The modified target rows [B, gamma + 1, V], for the next verification."""
        rows, self.along = target, []
        for P, Q, left in self.layers:
            joint = _joint(P, rows, tokens), _joint(Q, proposal, tokens)
            self.along.append((*joint, rows))
            rows = self.changed(rows, proposal, *joint, left).to(target.dtype)
        return rows

    def emit(self, rows: Tensor, proposal: Tensor, tokens: Tensor, tau: Tensor, extra: Tensor) -> None:
        """Follows tau [B] accepted tokens and the extra one; `rows` are those that `modified` returned."""
        gamma = tokens.shape[1]
        ones = torch.ones_like(tau, dtype=torch.double)
        own = _joint(ones, rows, tokens), _joint(ones, proposal, tokens), rows
        before = [*(left for *_, left in self.layers), torch.full_like(tau, gamma)]
        self.layers = []
        for (P, Q, older), left in zip([*self.along, own], before, strict=True):
            if bool((left - tau >= 2).any()):
                P = pick(P, tau) * pick(pick(older, tau), extra)
                Q = pick(Q, tau) * pick(pick(proposal, tau.clamp(max=gamma - 1)), extra)
                largest = torch.maximum(P, Q).clamp(min=1e-300)
                self.layers.append((P / largest, Q / largest, left - tau - 1))

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.layers = [tuple(part[rows] for part in layer) for layer in self.layers]


def _joint(start: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma + 1]: `start` times the joint probability of the first i tokens; 0 after a missing token."""
    single = drafted(rows, tokens.clamp(min=0)).double()
    joint = torch.where(tokens >= 0, single, 0.0).cumprod(1)
    return start[:, None] * pad(joint, (1, 0), value=1)
