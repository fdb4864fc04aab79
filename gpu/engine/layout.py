"""What a tree means for attention: who sees whom, and the path to every node."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from gpu.draft import Tree


@dataclass(frozen=True)
class Layout:
    """Tables of a tree, each with a first dimension of 1 (shared by all rows) or B.

    sees [*, N, N + 2]: whether node i sees the text before the root (column 0), node j (column
    1 + j), and what lies behind the tree (last column: never). levels [*, N]: depths.
    paths [*, N, depth + 1]: the nodes from the root to node i, then zeros.
    """

    sees: Tensor
    levels: Tensor
    paths: Tensor

    @classmethod
    def of(cls, tree: Tree) -> "Layout":
        """The tables of a tree.

        >>> Layout.of(Tree([-1, 0, 0, 1])).paths.tolist()
        [[[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 1, 3]]]
        """
        parents, levels = tree.parents, tree.levels
        batch, size = parents.shape
        seen = torch.eye(size, dtype=torch.bool, device=parents.device).repeat(batch, 1, 1)
        paths = parents.new_zeros(batch, size, tree.depth + 2)  # the last place takes what is no path
        at = torch.arange(size, device=parents.device).expand(batch, size)
        for up in range(tree.depth + 1):
            seen = seen.scatter(2, at[..., None], True)
            place = torch.where(levels >= up, levels - up, tree.depth + 1)
            paths = paths.scatter(2, place[..., None], at[..., None])
            at = parents.gather(1, at)
        return cls(functional.pad(functional.pad(seen, (1, 0), value=True), (0, 1)), levels, paths[..., :-1])


def mask(sees: Tensor, starts: Tensor, width: int) -> Tensor:
    """[B, 1, n, width]: which slots the nodes of sees [1 or B, n, N + 2] see, the root at slot starts [B]."""
    last = sees.shape[-1] - 1
    column = torch.arange(1, width + 1, device=starts.device) - starts[:, None]
    column = column.clamp(0, last)
    if len(sees) == 1:
        return sees[0][:, column].transpose(0, 1)[:, None]
    return sees.gather(2, column[:, None].expand(-1, sees.shape[1], -1))[:, None]
