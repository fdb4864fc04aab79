"""Operations on batches of rows: acceptance probabilities, residuals, and drawing the extra token."""

import torch
from torch import Tensor

from draftproof.gpu.verify import cells
from draftproof.gpu.verify.batch import Drafts

LARGEST = 3e38
"""Used as infinity when a quotient divides by zero; near the largest float32."""


def pick(rows: Tensor, index: Tensor) -> Tensor:
    """rows[b, index[b, ...]]: [B, ..., V] of [B, N, V]."""
    batch = torch.arange(len(rows), device=rows.device)
    return rows[batch.view(-1, *[1] * (index.dim() - 1)), index]


def drafted(rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma]: the probability of each token of a chain in its row of [B, gamma or more, V]."""
    return rows[:, : tokens.shape[1]].gather(2, tokens[..., None])[..., 0]


def share(part: Tensor, whole: Tensor) -> Tensor:
    """min(1, part / whole), and 1 for 0/0 and x/0, as in theory.rows."""
    return torch.where(part < whole, part / torch.where(whole > 0, whole, 1.0), 1.0)


def rate(part: Tensor, whole: Tensor) -> Tensor:
    """`share`, but 0 if the part is 0: a drafted token without target mass is never accepted."""
    return torch.where(part > 0, share(part, whole), 0.0)


def excess(p: Tensor, cut: Tensor, q: Tensor) -> Tensor:
    """(p - cut q)+; p itself if cut is 0, even if q is not finite."""
    cut = cut[..., None]
    return torch.where(cut > 0, (p - cut * q).clamp(min=0), p)


def without(tokens: Tensor, chosen: Tensor, V: int) -> Tensor:
    """[..., V]: which ids are among the tokens [..., n] whose `chosen` [..., n] is true."""
    among = torch.zeros(*chosen.shape[:-1], V + 1, dtype=torch.bool, device=tokens.device)
    return among.scatter(-1, torch.where(chosen, tokens, V), True)[..., :V]


def remainder(drafts: Drafts, cut: Tensor, node: Tensor) -> Tensor:
    """[B, V], not normalised: the law of the extra token after a stop at node [B], as `Rates.cut` has it.

    With one cut a node, a rejected child's token has no mass left in exact arithmetic; leaving it out keeps
    rounding from emitting it. If rounding leaves no mass at all, the row is p.
    """
    tree, proposal = drafts.tree, drafts.proposal
    B, _, V = drafts.target.shape
    row = p = pick(drafts.target, node)
    if proposal is not None and proposal.shape[1]:
        at = tree.rows.expand(B, -1).gather(1, node[:, None])[:, 0]
        q, cut = pick(proposal, at), pick(cut, node)
        if cut.dim() > 1:
            strata = None if drafts.strata is None else pick(drafts.strata, at)
            row = cells.left(p, q, strata, cut)
            return torch.where(row.sum(-1, keepdim=True) > 0, row, p)
        row = excess(p, cut, q)
    below = drafts.drawn[:, 1:] & (tree.parents[:, 1:] == node[:, None])
    row = torch.where(without(drafts.ids, below, V), 0.0, row)
    return torch.where(row.sum(-1, keepdim=True) > 0, row, p)


def draw(row: Tensor, u: Tensor) -> Tensor:
    """[B] tokens by inverse CDF: the first x with mass and F(x) > u F(V-1), else the last x with mass."""
    V = row.shape[-1]
    ids = torch.arange(V, device=row.device)
    cumulative = row.double().cumsum(-1)
    past = cumulative > u.double()[:, None] * cumulative[:, -1:]
    return torch.where(row > 0, torch.where(past, 2 * V - ids, ids), -1).argmax(-1)
