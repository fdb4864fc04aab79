"""Draft trees by parent indices, siblings in drawing order, with their attention and path tables."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers.shared.optimal import ranked


class Tree:
    """A draft tree: node 0 is the root, `parents[i] < i` is node i's parent, siblings are in drawing order.

    `parents` is one tree [N] shared by all rows of a batch, or one tree per row [B, N]. `replacement`:
    siblings were drawn from the same q; `stratified`: the j-th from the j-th stratum of q; otherwise each was
    drawn from q without its earlier siblings. `grown`: the shape follows from what was drawn. `depth` is the
    longest path or an upper bound; without it, per-row trees are read back from the device, which makes their
    tables of children as small as they can be. `leaves` is how many a per-row tree has at most (N - 1 unless
    given). Raises BadInput for invalid parents.

    Tables [1 or B, N]: `parents` (0 for the root); `levels`, the depths; `rows`,
    the proposal row (by default k for the k-th node with children, and 0 for leaves); `drawn_from`
    [.., N - 1], the proposal row of each drafted node's parent; `turn`, the place in the order from leaf to
    root, depth first; `above` [.., N, N], whether node j is node i or its ancestor; `older` [.., N, N],
    whether node j is an earlier sibling of node i;
    `sees` [.., N, N + 2], the attention mask of node i: the text before the root (column 0), node j (column
    1 + j), and slots after the tree (last column, never seen); `root_paths` [.., N, depth + 1], the nodes
    from the root to node i, then zeros.

    `is_chain`: one path, shared by all rows. `steps` are groups of nodes that can be decided at once: their
    parents differ, and the nodes they depend on are in earlier groups. `generations` groups the nodes that
    may have children by level; `reads` has these nodes of a shared tree in turn, each with its proposal row;
    `in_turn`: whether the siblings of each of `generations` are judged in turn in a lift: those of a tree
    that is grown or, i.i.d. ones of a shared tree, by its shape.

    >>> tree = Tree([-1, 0, 0, 1])
    >>> tree.size, tree.depth, tree.inner, tree.turn.tolist()
    (4, 2, (0, 1), [[3, 1, 2, 0]])
    >>> tree.root_paths.tolist()
    [[[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 1, 3]]]
    """

    TABLES = (*("parents", "above", "older", "levels", "turn", "rows", "drawn_from", "sees", "root_paths"),)

    def __init__(
        self,
        parents: Tensor | Sequence[int],
        *,
        replacement: bool = False,
        stratified: bool = False,
        grown: bool = False,
        depth: int | None = None,
        leaves: int | None = None,
        rows: Tensor | None = None,
    ):
        given = parents if isinstance(parents, Tensor) else torch.tensor(parents, dtype=torch.long)
        if given.dim() not in (1, 2) or not given.shape[-1]:
            raise BadInput("parents must be [N] or [B, N], with N at least 1 for the root")
        self.shared, self.replacement, self.size = given.dim() == 1, replacement, given.shape[-1]
        self.stratified, self.leaves = stratified, self.size - 1 if leaves is None else leaves
        self.as_tuple = tuple(given.tolist()) if self.shared else None
        for i, parent in enumerate(self.as_tuple or ()):
            if i == 0 and parent not in (-1, 0):
                raise BadInput(f"node 0 is the root; its parent must be -1, not {parent}")
            if i > 0 and not 0 <= parent < i:
                raise BadInput(f"the parent of node {i} must be an earlier node, not {parent}")
        self.parents = given.reshape(-1, self.size).clamp(min=0)
        nodes = torch.arange(self.size, device=given.device)
        self.above, up = (nodes == nodes[:, None]).expand(len(self.parents), -1, -1), self.parents
        for _ in range((self.size if depth is None else depth).bit_length()):  # each time twice as far up
            self.above = self.above | self.above.gather(1, up[..., None].expand_as(self.above))
            up = up.gather(1, up)
        self.levels = self.above.sum(-1) - 1
        drafted = nodes > 0
        siblings = (self.parents[:, :, None] == self.parents[:, None]) & drafted & drafted[:, None]
        subtree = self.above.sum(1)
        self.older = siblings & (nodes < nodes[:, None])
        older = torch.where(self.older, subtree[:, None], 0).sum(-1)
        before = torch.where(self.above, older[:, None], 0).sum(-1)
        self.turn = before + subtree - 1
        has_child = ((self.parents[:, None] == nodes[:, None]) & drafted).any(-1)
        self.inner = tuple(has_child[0].nonzero().flatten().tolist()) if self.shared else None
        rows = (has_child.cumsum(-1) - 1) * has_child if rows is None else rows
        self.rows = rows.reshape(-1, self.size).expand_as(self.parents)
        self.drawn_from = self.rows.gather(1, self.parents[:, 1:])
        self.depth, self.most, inner = depth or 0, self.size - 1, nodes[:-1]
        if (self.shared or depth is None) and self.levels.numel():
            self.depth, self.most = int(self.levels.max()), 1 + int(self.older.sum(-1).max())
            inner = nodes[has_child.any(0)]
        self.is_chain = self.shared and self.depth == self.size - 1
        self.sees = pad(pad(self.above, (1, 0), value=True), (0, 1))
        place = torch.where(self.above, self.levels[:, None], self.depth + 1)  # the last is dropped
        paths = self.parents.new_zeros(*place.shape[:2], self.depth + 2)
        self.root_paths = paths.scatter(2, place, nodes.expand_as(place))[..., :-1].contiguous()
        self.steps, self.generations = self._steps(inner)
        self.reads: tuple[tuple[int, int], ...] | None = None
        if self.shared:
            order = [node for nodes in self.generations for node in nodes.tolist()]
            places = self.rows[0].tolist()
            self.reads = tuple((node, places[node]) for node in order)
        shapes: list[tuple] = [()] * self.size
        for node, parent in reversed([*enumerate(self.as_tuple or ())][1:]):
            shapes[parent] = (shapes[node], *shapes[parent])
        self.in_turn = [grown for _ in self.generations]
        if self.reads is not None:
            self.in_turn = [grown or (replacement and ranked(shapes[node])) for node, _ in self.reads]

    @classmethod
    def chain(cls, gamma: int) -> "Tree":
        """One path of gamma tokens; gamma = 0 drafts nothing."""
        return cls(list(range(-1, gamma)))

    @classmethod
    def paths(cls, count: int, gamma: int) -> "Tree":
        """`count` i.i.d. paths of gamma tokens, level by level; equal prefixes stay separate nodes."""
        return cls([-1, *(max(0, node - count) for node in range(1, 1 + count * gamma))], replacement=True)

    @classmethod
    def of_shape(cls, shape: Sequence, replacement: bool = False, stratified: bool = False) -> "Tree":
        """The tree whose root has the children shape[0], shape[1], ..., numbered breadth first."""
        parents, queue = [-1], [shape]
        for node, children in enumerate(queue):  # the queue grows during the loop
            queue += children
            parents += [node] * len(children)
        return cls(parents, replacement=replacement, stratified=stratified)

    @classmethod
    def merged(cls, tokens: Tensor) -> "tuple[Tree, Tensor]":
        """K i.i.d. paths [B, K, gamma] merged by prefix: (tree [B, 1 + K gamma], tokens [B, K gamma]).

        The tree is treated as drawn without replacement. Nodes keep the numbers and proposal rows of
        `Tree.paths(K, gamma)`. A later copy of a node gets token -1; its children move to the first copy.

        >>> tree, tokens = Tree.merged(torch.tensor([[[5, 6], [5, 7]]]))
        >>> tree.parents.tolist(), tokens.tolist()
        ([[0, 0, 0, 1, 1]], [[5, -1, 6, 7]])
        """
        B, K, gamma = tokens.shape
        same = (tokens[:, :, None] == tokens[:, None]) | ((tokens[:, :, None] < 0) & (tokens[:, None] < 0))
        same = same.cumprod(-1)  # [B, K, K, gamma]: whether two paths have equal prefixes
        original = same.argmax(2)  # the first path with this prefix
        own, depth = (torch.arange(n, device=tokens.device) for n in (K, gamma))
        parents = pad(1 + depth * K + original, (1, 0))[..., :gamma].mT.flatten(1)
        node = torch.arange(1 + K * gamma, device=tokens.device)
        rows = torch.where(node <= K * (gamma - 1), node, 0)
        tree = cls(pad(parents, (1, 0)), depth=gamma, leaves=K, rows=rows)
        return tree, torch.where(original == own[:, None], tokens, -1).mT.reshape(B, -1)

    @property
    def children(self) -> Tensor:
        """[1 or B, N, K]: each node's children in drawing order, K at most, then zeros.

        >>> Tree([-1, 0, 0, 1]).children.tolist()
        [[[1, 2], [3, 0], [0, 0], [0, 0]]]
        """
        N, parents, most = self.size, self.parents, self.most
        nodes = torch.arange(N, device=parents.device)
        place = torch.where(nodes > 0, parents * most + self.older.sum(-1), N * most)
        table = parents.new_zeros(len(parents), N * most + 1).scatter(1, place, nodes.expand_as(place))
        return table[:, :-1].unflatten(1, (N, most))

    def _changed(self, change: Callable[[Tensor], Tensor]) -> "Tree":
        """A copy with other tables; per-row trees of the same size differ only in these."""
        changed = copy(self)
        vars(changed).update({name: change(getattr(self, name)) for name in self.TABLES})
        return changed

    def to(self, device: torch.device | str) -> "Tree":
        """The same tree with its tables on another device."""
        moved = self._changed(lambda table: table.to(device))
        moved.steps = tuple(step.to(device) for step in self.steps)
        moved.generations = tuple(nodes.to(device) for nodes in self.generations)
        return moved

    def take(self, which: Tensor) -> "Tree":
        """The given rows of per-row trees; order and repetitions are free."""
        return self if self.shared else self._changed(lambda table: table[which])

    def drawn(self, tokens: Tensor) -> Tensor:
        """[B, N]: whether each node and all its ancestors were drawn; the root always was."""
        there = pad(tokens, (1, 0)) >= 0
        return there.cumprod(1).bool() if self.is_chain else (there[:, None] | ~self.above).all(-1)

    def stopped(self, tokens: Tensor, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(tau, path, drafted) of drafts [B, N - 1] that stop at node [B].

        tau [B]: accepted tokens; path [B, depth + 1]: the nodes from the root to the stop, then zeros;
        drafted [B, depth]: the tokens along the path, of which only the first tau are defined.

        >>> found = Tree.chain(2).stopped(torch.tensor([[5, 6]]), torch.tensor([1]))
        >>> [each.tolist() for each in found]
        [[1], [[0, 1, 0]], [[5, 6]]]
        """
        row = 0 if self.shared else torch.arange(len(node), device=node.device)
        tau, path = self.levels[row, node], self.root_paths[row, node]
        drafted = tokens if self.is_chain else tokens.gather(1, (path[:, 1:] - 1).clamp(min=0))
        return tau, path, drafted

    def _steps(self, inner: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        device = self.parents.device
        if not self.shared:
            return torch.arange(self.size, device=device).split(1)[1:], inner[:, None].unbind()
        parents, levels = self.parents[0].tolist(), self.levels[0].tolist()

        def grouped(nodes: Iterable[int], key: Callable[[int], Any]) -> tuple[Tensor, ...]:
            groups = groupby(sorted(nodes, key=key), key)
            return tuple(torch.tensor([*group], device=device) for _, group in groups)

        steps = grouped(range(1, self.size), lambda i: (levels[i], parents[1:i].count(parents[i])))
        return steps, grouped(inner.tolist(), levels.__getitem__)


@cache
def chain_on(gamma: int, device: torch.device) -> Tree:
    """The chain of gamma tokens with its tables on a device."""
    return Tree.chain(gamma).to(device)


def mask(sees: Tensor, starts: Tensor, width: int) -> Tensor:
    """The attention mask [B, 1, n, width] over cache slots, from sees [1 or B, n, N + 2] (a `Tree`'s);
    the root of row b is at slot starts[b].
    """
    last = sees.shape[-1] - 1
    column = torch.arange(1, width + 1, device=starts.device) - starts[:, None]
    column = column.clamp(0, last)[:, None].expand(-1, sees.shape[1], -1)
    return sees.expand(len(starts), -1, -1).gather(2, column)[:, None]
