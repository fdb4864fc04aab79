"""The shape of a draft: a tree by parent indices, siblings in drawing order."""

from collections.abc import Hashable, Sequence
from copy import copy

import torch
from torch import Tensor

from draftproof.theory.errors import BadInput


class Tree:
    """Node 0 is the root; `parents[i] < i` is node i's parent, and siblings stand in drawing order.

    `parents` is one tree [N] for all rows of a batch, or one a row [B, N]. `replacement` says whether
    siblings were drawn with replacement, from the same q, or each from q without the earlier ones.
    Nodes that a row did not draw have token -1. Every table below is [1, N] or [B, N]:

    * `parents` (the root's is 0 here), `levels` (depth of a node), `first` (its first sibling);
    * `rows`, the proposal row of an inner node: the k-th node that has children has row k, unless
      `rows` is given; the root's entry of a tree without children is 0, and so is every leaf's;
    * `turn`, the node's place in the order from leaf to root, depth first: children before parents.

    `steps` are groups of nodes that can be judged at once: their parents differ, and what they
    depend on comes in earlier groups; `generations` groups the nodes that may have children, level by
    level. `depth` is the longest path, or a bound on it, which must be given to build per-row trees
    without reading them back from the device.

    >>> tree = Tree([-1, 0, 0, 1])
    >>> tree.size, tree.depth, tree.inner, tree.turn.tolist()
    (4, 2, (0, 1), [[3, 1, 2, 0]])
    """

    def __init__(
        self,
        parents: Tensor | Sequence[int],
        *,
        replacement: bool = False,
        depth: int | None = None,
        rows: Tensor | None = None,
    ):
        given = torch.as_tensor(parents, dtype=torch.long)
        if given.dim() not in (1, 2) or not given.shape[-1]:
            raise BadInput("parents must be [N] or [B, N], and N at least 1: the root")
        self.shared = given.dim() == 1
        self.replacement = replacement
        self.spelled = tuple(given.tolist()) if self.shared else None
        if self.spelled is not None:
            _check(self.spelled)
        self.parents = given.reshape(-1, given.shape[-1]).clamp(min=0)
        self.size = given.shape[-1]
        self.levels, self.turn, self.first, has_child = _tables(self.parents)
        self.inner = tuple(has_child[0].nonzero().flatten().tolist()) if self.shared else None
        counted = (has_child.cumsum(-1) - 1) * has_child
        self.rows = counted if rows is None else rows.reshape(-1, self.size)
        self.depth = int(self.levels.max()) if depth is None and self.levels.numel() else depth or 0
        self.steps, self.generations = self._steps()

    @classmethod
    def chain(cls, gamma: int) -> "Tree":
        """One path of gamma tokens; gamma = 0 drafts nothing."""
        return cls(list(range(-1, gamma)))

    @classmethod
    def paths(cls, count: int, gamma: int) -> "Tree":
        """`count` i.i.d. paths of gamma tokens, path after path, equal prefixes kept apart."""
        parents = [0 if d == 0 else k * gamma + d for k in range(count) for d in range(gamma)]
        return cls([-1, *parents], replacement=True)

    @classmethod
    def of_shape(cls, shape: Sequence, replacement: bool = False) -> "Tree":
        """The tree whose root has the children shape[0], shape[1], ..., breadth first.

        >>> Tree.of_shape([[[], []], [[]]]).parents.tolist()
        [[0, 0, 0, 1, 1, 2]]
        """
        parents, queue = [-1], [shape]
        for node, below in enumerate(queue):  # which grows meanwhile
            queue += below
            parents += [node] * len(below)
        return cls(parents, replacement=replacement)

    @classmethod
    def merged(cls, tokens: Tensor) -> "tuple[Tree, Tensor]":
        """K i.i.d. paths [B, K, gamma] merged by prefix: (tree [B, 1 + K gamma], tokens [B, K gamma]).

        They are a tree drawn without replacement, children in order of first appearance. Nodes
        keep the places and the proposal rows they have in `Tree.paths(K, gamma)`; a later copy gets
        token -1, and what is below it hangs below the first copy.

        >>> tree, tokens = Tree.merged(torch.tensor([[[5, 6], [5, 7]]]))
        >>> tree.parents.tolist(), tokens.tolist()
        ([[0, 0, 1, 0, 1]], [[5, 6, -1, 7]])
        """
        B, K, gamma = tokens.shape
        same = (tokens[:, :, None] == tokens[:, None]) | ((tokens[:, :, None] < 0) & (tokens[:, None] < 0))
        same = same.cumprod(-1)  # [B, K, K, gamma]: equal up to here
        original = same.argmax(2)  # the first path with this prefix
        own = torch.arange(K, device=tokens.device)[:, None]
        node = 1 + original * gamma + torch.arange(gamma, device=tokens.device)
        parents = torch.cat((torch.zeros_like(node[..., :1]), node[..., :-1]), -1)[..., :gamma]
        root = parents.new_zeros(B, 1)
        deep = torch.arange(gamma, device=tokens.device)
        inner = torch.where(deep < gamma - 1, 1 + own * (gamma - 1) + deep, 0).flatten()
        rows = torch.cat((inner.new_zeros(1), inner))
        tree = cls(torch.cat((root, parents.reshape(B, -1)), 1), depth=gamma, rows=rows)
        return tree, torch.where(original == own, tokens, -1).reshape(B, -1)

    @property
    def is_chain(self) -> bool:
        """Whether this is one path, shared by all rows."""
        return self.shared and self.depth == self.size - 1

    def to(self, device: torch.device | str) -> "Tree":
        """The same tree with its tables on another device."""
        moved = self.holding({name: table.to(device) for name, table in self.tables.items()})
        moved.steps = tuple(step.to(device) for step in self.steps)
        moved.generations = tuple(nodes.to(device) for nodes in self.generations)
        return moved

    @property
    def kind(self) -> Hashable:
        """The same for equal shared trees, and for per-row trees that differ in their tables alone."""
        return self.spelled, self.size, self.depth, self.replacement

    @property
    def tables(self) -> dict[str, Tensor]:
        """What tells per-row trees of one size apart."""
        return {name: getattr(self, name) for name in ("parents", "levels", "turn", "first", "rows")}

    def holding(self, tables: dict[str, Tensor]) -> "Tree":
        """A tree like this one, with other tables."""
        held = copy(self)
        vars(held).update(tables)
        return held

    def take(self, which: Tensor) -> "Tree":
        """Some rows of per-row trees, in any order, also repeated."""
        if self.shared:
            return self
        return self.holding({name: table[which] for name, table in self.tables.items()})

    def drawn(self, tokens: Tensor) -> Tensor:
        """[B, N]: whether each node was drawn, as all nodes above it must be; the root always is."""
        there = torch.cat((tokens.new_ones(len(tokens), 1, dtype=torch.bool), tokens >= 0), 1)
        parents = self.parents.expand(len(tokens), -1)
        for _ in range(self.depth):
            there = there & there.gather(1, parents)
        return there

    def _steps(self) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        device = self.parents.device
        if self.inner is None:
            nodes = tuple(torch.full((1,), i, device=device) for i in range(self.size))
            return nodes[1:], nodes[:-1]
        steps: dict[tuple[int, int], list[int]] = {}
        generations: dict[int, list[int]] = {}
        parents, levels = self.parents[0].tolist(), self.levels[0].tolist()
        for i in range(1, self.size):
            steps.setdefault((levels[i], parents[1:i].count(parents[i])), []).append(i)
        for i in self.inner:
            generations.setdefault(levels[i], []).append(i)
        by_step = tuple(torch.tensor(steps[key], device=device) for key in sorted(steps))
        by_level = tuple(torch.tensor(generations[level], device=device) for level in sorted(generations))
        return by_step, by_level


def _check(parents: Sequence[int]) -> None:
    if parents[0] not in (-1, 0):
        raise BadInput(f"node 0 is the root; its parent must be -1, not {parents[0]}")
    for i, parent in enumerate(parents[1:], 1):
        if not 0 <= parent < i:
            raise BadInput(f"the parent of node {i} must come before it, not be {parent}")


def _tables(parents: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    # levels, place from leaf to root, first sibling, has children; without reading anything back.
    B, N = parents.shape
    nodes = torch.arange(N, device=parents.device).expand(B, N)
    levels, below, before = torch.zeros_like(parents), torch.ones_like(parents), torch.zeros_like(parents)
    for i in range(N - 1, 0, -1):
        below = below.scatter_add(1, parents[:, i : i + 1], below[:, i : i + 1])
    for i in range(1, N):
        up = parents[:, i : i + 1]
        levels[:, i : i + 1] = levels.gather(1, up) + 1
    siblings = (parents[:, :, None] == parents[:, None]) & (nodes > 0)[:, None] & (nodes > 0)[:, :, None]
    earlier = siblings & (nodes[:, None] < nodes[:, :, None])
    older = torch.where(earlier, below[:, None], 0).sum(-1)  # nodes below earlier siblings
    for i in range(1, N):
        before[:, i : i + 1] = before.gather(1, parents[:, i : i + 1]) + older[:, i : i + 1]
    first = torch.where(siblings, nodes[:, None], N).amin(-1).clamp(max=N - 1)
    has_child = ((parents[:, None] == nodes[:, :, None]) & (nodes > 0)[:, None]).any(-1)
    return levels, before + below - 1, first, has_child
