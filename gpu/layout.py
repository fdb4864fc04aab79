"""Tables of a tree: who sees whom, the path to every node, and so the words that end at one."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.draft import Tree


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
        return cls(pad(pad(seen, (1, 0), value=True), (0, 1)), levels, paths[..., :-1])


def mask(sees: Tensor, starts: Tensor, width: int) -> Tensor:
    """[B, 1, n, width]: which slots the nodes of sees [1 or B, n, N + 2] see, the root at slot starts [B]."""
    last = sees.shape[-1] - 1
    column = torch.arange(1, width + 1, device=starts.device) - starts[:, None]
    column = column.clamp(0, last)
    if len(sees) == 1:
        return sees[0][:, column].transpose(0, 1)[:, None]
    return sees.gather(2, column[:, None].expand(-1, sees.shape[1], -1))[:, None]


def emitted(
    levels: Tensor, paths: Tensor, tokens: Tensor, node: Tensor, token: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """tau [B]; the path [B, depth + 1] from the root to the stop at node [B], then zeros; and the words
    [B, depth + 1]: the tokens along it, the extra token [B], then -1.

    levels [1 or B, N] and paths [1 or B, N, depth + 1] are as in `Layout`, tokens [B, N - 1] as in drafts.

    >>> levels, paths = torch.tensor([[0, 1, 2]]), torch.tensor([[[0, 0, 0], [0, 1, 0], [0, 1, 2]]])
    >>> found = emitted(levels, paths, torch.tensor([[5, 6]]), torch.tensor([1]), torch.tensor([7]))
    >>> [each.tolist() for each in found]
    [[1], [[0, 1, 0]], [[5, 7, -1]]]
    """
    batch, size = torch.arange(len(node), device=node.device), paths.shape[-1]
    tau = levels.expand(len(node), -1)[batch, node]
    path = paths.expand(len(node), -1, -1)[batch, node]
    place = torch.arange(size, device=node.device)
    drafted = pad(tokens.gather(1, (path[:, 1:] - 1).clamp(min=0)), (0, 1))
    after = torch.where(place == tau[:, None], token[:, None], -1)
    return tau, path, torch.where(place < tau[:, None], drafted, after)
