"""Operations on batches of rows: acceptance probabilities, residuals, and drawing the extra token."""

import torch
from torch import Tensor

from draftproof.gpu.verify import cells
from draftproof.gpu.verify.batch import Drafts

LARGEST = 3e38
"""Used as infinity when a quotient divides by zero; near the largest float32."""


def pick(rows: Tensor, index: Tensor) -> Tensor:
    """rows[b, index[b, ...]]: [B, ..., V] of [B, N, V]."""
    if rows.shape[0] == 1:  # several times faster for one text on a CPU
        found = rows[0].index_select(0, index.flatten())
        return found if index.dim() == 1 else found.view(*index.shape, *rows.shape[2:])
    batch = torch.arange(len(rows), device=rows.device)
    return rows[batch.view(-1, *[1] * (index.dim() - 1)), index]


def drafted(rows: Tensor, tokens: Tensor) -> Tensor:
    """[B, gamma]: the probability of each token of a chain in its row of [B, gamma or more, V]."""
    return rows[:, : tokens.shape[1]].gather(2, tokens[..., None])[..., 0]


def share(part: Tensor, whole: Tensor) -> Tensor:
    """min(1, part / whole), and 1 for 0/0 and x/0, as in theory.rows."""
    return (part / whole).nan_to_num(1.0).clamp(max=1)


def rate(part: Tensor, whole: Tensor) -> Tensor:
    """`share`, but 0 if the part is 0: a drafted token without target mass is never accepted."""
    return (part / whole).nan_to_num(0.0).clamp(max=1)


def excess(p: Tensor, cut: Tensor, q: Tensor) -> Tensor:
    """(p - cut q)+; p itself if cut is 0, even if q is not finite."""
    cut = cut[..., None]
    return torch.where(cut > 0, (p - cut * q).clamp(min=0), p)


def without(row: Tensor, tokens: Tensor, chosen: Tensor) -> Tensor:
    """Rows [..., V] that are 0 at those of the tokens [..., n] whose `chosen` [..., n] is true."""
    return row.scatter_reduce(-1, tokens, torch.where(chosen, 0.0, torch.inf).to(row), "amin")


def remainder(drafts: Drafts, cut: Tensor, node: Tensor) -> Tensor:
    """[B, V], not normalised: the law of the extra token after a stop at node [B], as `Rates.cut` has it.

    With one cut a node, a rejected child's token has no mass left in exact arithmetic; leaving it out keeps
    rounding from emitting it. If rounding leaves no mass at all, the row is p.
    """
    tree, proposal = drafts.tree, drafts.proposal
    B = len(drafts.target)
    row = p = pick(drafts.target, node)
    if proposal is not None and proposal.shape[1]:
        last = proposal.shape[1] - 1
        at = node.clamp(max=last) if tree.is_chain else pick(tree.rows.expand(B, -1), node)
        q, cut = pick(proposal, at), pick(cut, node)
        if cut.dim() > 1:
            strata = None if drafts.strata is None else pick(drafts.strata, at)
            count = (drafts.there & (tree.parents[:, 1:] == node[:, None])).sum(1, keepdim=True)
            row = cells.left(p, q if strata is None else q * count, strata, cut)
            return torch.where((count > 0) & (row.sum(-1, keepdim=True) > 0), row, p)
        row = excess(p, cut, q)
    below = drafts.there & (tree.parents[:, 1:] == node[:, None])
    row = without(row, drafts.ids, below)
    return torch.where(row.sum(-1, keepdim=True) > 0, row, p)


def draw(row: Tensor, u: Tensor) -> Tensor:
    """Tokens [...] by inverse CDF from rows [..., V] with uniforms [...] below 1: the first x with
    F(x) > u F(V-1), which has mass; V if a row has none.
    """
    return draws(row, u[..., None])[..., 0]


def draws(rows: Tensor, u: Tensor) -> Tensor:
    """As `draw`, K tokens [..., K] of each row with uniforms [..., K], with replacement."""
    reach = rows.cumsum(-1, dtype=torch.float64)
    return torch.searchsorted(reach, u * reach[..., -1:], right=True)
