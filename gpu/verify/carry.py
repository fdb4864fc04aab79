"""Modified targets in batches: what greedy and shaped block verification leave behind after a stop."""

from typing import TypeAlias

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.verify.residual import drafted, pick

Along: TypeAlias = tuple[Tensor, Tensor, Tensor]
"""P, Q and kept [B, gamma + 1] each, as in `Carry`, after the first 0, 1, ... tokens."""


class Carry:
    """Modified targets that still apply, oldest first: what blocks that stopped early left behind.

    Of each block, P and Q are the joint probabilities of its tokens so far: Q under the proposal, P under the
    target with the older modifications; `kept` is the least Q / P so far, at most 1; `left` tokens remain to
    its end.
    """

    at_the_end = False
    """Whether the row after the block's last token is modified, if the proposal had a row there, and no other
    row.
    """

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, ...]] = []  # P, Q, kept, left [B]
        self.along: list[tuple[Tensor, ...]] = []  # P, Q, kept [B, gamma + 1], rows with older layers

    def changed(self, rows: Tensor, proposal: Tensor, along: Along, left: Tensor) -> Tensor:
        """The rows [B, gamma + 1, V] with one modification, whose P, Q and kept along the rows are given."""
        raise NotImplementedError

    def modified(self, target: Tensor, proposal: Tensor, tokens: Tensor) -> Tensor:
        """The modified target rows [B, gamma + 1, V], for the next verification."""
        rows, self.along = target, []
        for P, Q, kept, left in self.layers:
            along = _along(P, Q, kept, rows, proposal, tokens)
            self.along.append((*along, rows))
            rows = self.changed(rows, proposal, along, left).to(target.dtype)
        return rows

    def emit(self, rows: Tensor, proposal: Tensor, tokens: Tensor, tau: Tensor, extra: Tensor) -> None:
        """Follows tau [B] accepted tokens and the extra one; `rows` are those that `modified` returned."""
        gamma = tokens.shape[1]
        ones = torch.ones_like(tau, dtype=torch.double)
        own = (*_along(ones, ones, ones, rows, proposal, tokens), rows)
        known = not self.at_the_end or proposal.shape[1] > gamma
        before = [*(left for *_, left in self.layers), torch.full_like(tau, gamma if known else 0)]
        self.layers = []
        for (P, Q, kept, older), left in zip([*self.along, own], before, strict=True):
            if bool((left - tau >= (1 if self.at_the_end else 2)).any()):
                P = pick(P, tau) * pick(pick(older, tau), extra)
                Q = pick(Q, tau) * pick(pick(proposal, tau.clamp(max=gamma - 1)), extra)
                kept = torch.minimum(pick(kept, tau), (Q / P).nan_to_num(1.0, posinf=1.0))
                largest = torch.maximum(P, Q).clamp(min=1e-300)
                self.layers.append((P / largest, Q / largest, kept, left - tau - 1))

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.layers = [tuple(part[rows] for part in layer) for layer in self.layers]


class Modified(Carry):
    """Of greedy block verification (sun2025block, appendix): before the block's end a row p becomes
    norm((P p - Q q)+). The exact form is theory/verifiers/greedy_block.py.
    """

    def changed(self, rows: Tensor, proposal: Tensor, along: Along, left: Tensor) -> Tensor:
        P, Q, _ = along
        p, q = rows[:, :-1].double(), proposal[:, : rows.shape[1] - 1].double()
        excess = (P[:, :-1, None] * p - Q[:, :-1, None] * q).clamp(min=0)
        whole = excess.sum(-1, keepdim=True)
        applies = torch.arange(p.shape[1], device=left.device) < left[:, None]
        made = torch.where(applies[..., None] & (whole > 0), excess / whole, p)
        return torch.cat((made.to(rows.dtype), rows[:, -1:]), 1)


class Shaped(Carry):
    """Of shaped block verification: at the block's end the row p becomes norm(p - kept bonus), the bonus row
    as in `chains.shaped_block_rates`. The exact form is theory/verifiers/shared/leaf_shaping.py.
    """

    at_the_end = True

    def changed(self, rows: Tensor, proposal: Tensor, along: Along, left: Tensor) -> Tensor:
        end = left.clamp(0, proposal.shape[1] - 1)
        k = along[2].gather(1, end[:, None])
        p, q = pick(rows, end).double(), pick(proposal, end).double()
        room = (p - (1 - k) / mass(q)[:, None] * q.nan_to_num(0.0, 0.0, 0.0)).clamp(min=0)
        later = (p - k * room / room.sum(-1, keepdim=True)).clamp(min=0)
        applies = (left >= 0)[:, None] & (k < 1) & (later.sum(-1, keepdim=True) > 0)
        made = torch.where(applies, later / later.sum(-1, keepdim=True), p)
        return rows.scatter(1, end[:, None, None].expand_as(rows[:, :1]), made[:, None].to(rows.dtype))


def _along(P: Tensor, Q: Tensor, kept: Tensor, rows: Tensor, proposal: Tensor, tokens: Tensor) -> Along:
    """[B, gamma + 1] each: P and Q times the joint probability of the first i tokens, 0 after a missing one,
    and the least Q / P up to there.
    """
    P, Q = _joint(P, rows, tokens), _joint(Q, proposal, tokens)
    ratio = (Q / P).nan_to_num(1.0, posinf=1.0)
    return P, Q, torch.minimum(kept[:, None], ratio.cummin(1).values)


def _joint(start: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma + 1]: `start` times the joint probability of the first i tokens; 0 after a missing token."""
    single = drafted(rows, tokens.clamp(min=0)).double()
    joint = torch.where(tokens >= 0, single, 0.0).cumprod(1)
    return start[:, None] * pad(joint, (1, 0), value=1)


def mass(q: Tensor) -> Tensor:
    """[B]: the mass of rows [B, V]; infinite if one is no row, so that nothing of it is cut."""
    whole, fine = q.double().sum(-1), (q >= 0).all(-1) & q.isfinite().all(-1)
    return torch.where(fine & (whole > 0), whole, torch.inf)
