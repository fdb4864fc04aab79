"""A draft: the tree of tokens that the drafter proposed, in drawing order."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.strata import rest_and_top, strata


class Node:
    """One drafted context, with its drafted children.

    `prefix` includes the context before the draft; `proposal` is the drafter's next-token row q
    after `prefix`, which the children were drawn from (None at a leaf); `children` are in drawing
    order, duplicates separately. `shape` is the requested shape of the subtree, which is larger than the
    subtree if q ran out of tokens or equal paths were merged.
    """

    __slots__ = ("children", "prefix", "proposal", "shape")

    def __init__(
        self,
        prefix: Prefix,
        proposal: Row | None,
        children: "tuple[Node, ...]" = (),
        shape: tuple | None = None,
    ):
        self.prefix = prefix
        self.proposal: Row = proposal  # type: ignore[assignment]
        self.children = children
        self.shape = tuple([child.shape for child in children]) if shape is None else shape

    @property
    def token(self) -> int:
        """The last token of the prefix."""
        return self.prefix[-1]

    def child(self, token: int) -> "Node | None":
        """The first drafted copy of `token` below this node, or None."""
        for child in self.children:
            if child.prefix[-1] == token:
                return child
        return None

    def __iter__(self) -> "Iterator[Node]":
        """The nodes of the subtree, parents before children."""
        yield self
        for child in self.children:
            yield from child

    def __repr__(self) -> str:
        return f"Node({self.prefix}, {list(self.children)})"


def chained(leaf: Prefix, laws: Sequence[Row]) -> Node:
    """The root of the single path that ends in `leaf`, whose last tokens were drawn from `laws`."""
    node = Node(leaf, None)
    for q in reversed(laws):
        node = Node(node.prefix[:-1], q, (node,))
    return node


Path: TypeAlias = tuple[Node, ...]
"""Nodes from the root down, the root included."""


class Draft:
    """The result of one call of a drafting scheme.

    `replacement`: siblings were drawn with replacement. `stratified`: from the strata of their parent's
    proposal. `greedy`: all but the first are the likeliest tokens. `merged`: the draft is i.i.d. paths,
    merged by prefix. `paths` lists the drafted paths from root to leaf in drawing order, equal ones repeated.
    `grown`: the shape follows from what was drawn, so a rule may not depend on it.
    """

    __slots__ = ("_paths", "greedy", "grown", "merged", "replacement", "root", "stratified")

    def __init__(
        self,
        root: Node,
        *,
        replacement: bool = False,
        stratified: bool = False,
        greedy: bool = False,
        grown: bool = False,
        paths: tuple[Path, ...] | None = None,
    ):
        self.root = root
        self.replacement = replacement
        self.stratified = stratified
        self.greedy = greedy
        self.grown = grown
        self.merged = paths is not None
        self._paths = paths

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(_leaf_paths((self.root,))) if self._paths is None else self._paths

    def drawn(self, node: Node) -> tuple[int, ...]:
        """The tokens drawn below `node`, in drawing order: its children's, or its paths' if merged."""
        if not self.merged:
            return tuple(child.token for child in node.children)
        at = len(node.prefix)
        leaves = (path[-1].prefix for path in self.paths)
        return tuple(leaf[at] for leaf in leaves if len(leaf) > at and leaf[:at] == node.prefix)

    def laws(self, node: Node) -> tuple[Row, ...]:
        """The row that each child of `node` was drawn from, where siblings are drawn independently."""
        q, count = node.proposal, len(node.shape)
        if self.stratified:
            return strata(q, count)
        return rest_and_top(q, count) if self.greedy else (q,) * count

    @property
    def path(self) -> Path:
        """The first drafted path; for a chain the whole draft."""
        path = [self.root]
        while path[-1].children:
            path.append(path[-1].children[0])
        return tuple(path)


def _leaf_paths(path: Path) -> Iterator[Path]:
    if not path[-1].children:
        yield path
    for child in path[-1].children:
        yield from _leaf_paths((*path, child))
