"""What verification returns, and what it makes of rows that are no laws."""

from dataclasses import dataclass

import torch
from torch import Tensor

from draftproof.gpu.draft import Layout, Tree, emitted

BAD_TARGET, BAD_PROPOSAL, BAD_TOKEN, BAD_COIN = 1, 2, 3, 4
ERRORS = {
    BAD_TARGET: "a target row of a drawn node is no law: NaN, infinite, negative, or its sum is off 1",
    BAD_PROPOSAL: "a proposal row that was drawn from is no law",
    BAD_TOKEN: "a token id is below -1 or beyond the vocabulary",
    BAD_COIN: "a coin or the extra uniform is outside [0, 1]",
}
"""Meaning of the codes in `Outcome.error`; the first that applies is given."""

SUM = 1e-3
"""How far from 1 the sum of a row may be: far above float32 rounding, far below a wrong tensor."""


@dataclass(frozen=True)
class Outcome:
    """One iteration's result for every row of the batch.

    node [B]: the last accepted node, 0 for none; token [B]: the extra token; error [B]: 0, or a key
    of `ERRORS`, and then node = 0 and token = -1.
    """

    node: Tensor
    token: Tensor
    error: Tensor

    def clone(self) -> "Outcome":
        """The same in memory of its own."""
        return Outcome(self.node.clone(), self.token.clone(), self.error.clone())

    def emitted(self, tree: Tree, tokens: Tensor) -> Tensor:
        """[B, depth + 1] ids: the accepted tokens and the extra one, padded with -1."""
        layout = Layout.of(tree)
        return emitted(layout.levels, layout.paths, tokens, self.node, self.token)[2]


def checked(
    tree: Tree,
    target: Tensor,
    proposal: Tensor | None,
    tokens: Tensor,
    drawn: Tensor,
    coins: Tensor,
    extra: Tensor,
) -> Tensor:
    """[B] error codes. Rows that nothing was drawn after, or from, may hold anything."""
    B, _, V = target.shape
    error = torch.zeros(B, dtype=torch.long, device=target.device)
    noise = torch.cat((coins, extra[:, None]), 1)
    error = torch.where(((noise >= 0) & (noise <= 1)).all(1), error, BAD_COIN)
    error = torch.where(((tokens >= -1) & (tokens < V)).all(1), error, BAD_TOKEN)
    if proposal is not None and proposal.shape[1]:
        parents = tree.parents.expand(B, -1)
        used = torch.zeros_like(proposal[..., 0], dtype=torch.long)
        row = tree.rows.expand(B, -1).gather(1, parents)[:, 1:]
        used = used.scatter_add(1, row, drawn[:, 1:].long())
        error = torch.where((_is_law(proposal) | (used == 0)).all(1), error, BAD_PROPOSAL)
    return torch.where((_is_law(target) | ~drawn).all(1), error, BAD_TARGET)


def _is_law(rows: Tensor) -> Tensor:
    return ((rows.sum(-1) - 1).abs() <= SUM) & (rows.amin(-1) >= 0)
