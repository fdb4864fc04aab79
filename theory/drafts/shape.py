"""Shapes of trees, and growing a drafted tree of a given shape.

A shape is the tuple of its children's shapes; `()` is a leaf.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self, TypeAlias

from draftproof.theory.draft import Node
from draftproof.theory.errors import BadInput, whole
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows

Shape: TypeAlias = tuple["Shape", ...]
Siblings: TypeAlias = Callable[[Oracle, Row, int], list[int]]
"""How a scheme draws the children of one node: (oracle, q, how many) -> tokens in drawing order."""

DEPTH, NODES = 256, 4096
"""Largest depth and number of drafted tokens that a scheme takes."""


def every(children: int, depth: int) -> Shape:
    """The shape in which each node above `depth` has the same number of children."""
    shape: Shape = ()
    for _ in range(depth):
        shape = (shape,) * children
    return shape


def measure(shape: Shape) -> int:
    """The depth of a shape."""
    return 1 + max(map(measure, shape)) if shape else 0


def inner(shape: Shape) -> Iterator[int]:
    """The numbers of children of the nodes that have any."""
    if shape:
        yield len(shape)
        for child in shape:
            yield from inner(child)


def checked_shape(shape: object) -> Shape:
    """The shape as nested tuples; BadInput when it is not lists of lists, is a bare leaf, or too big."""
    nodes, level, depth = 0, [shape], 0
    while level:  # level by level, so that a hostile depth cannot exhaust the stack
        if not all(isinstance(node, list | tuple) for node in level):
            raise BadInput("shape must be a list of its children's shapes, lists all the way down")
        level = [child for node in level for child in node]  # type: ignore[union-attr]
        nodes += len(level)
        depth += bool(level)
        if nodes > NODES or depth > DEPTH:
            raise BadInput(f"shape has more than {NODES} nodes or is deeper than {DEPTH}")
    if not nodes:
        raise BadInput("shape has no drafted token; depth must be at least 1")
    return _frozen(shape)  # type: ignore[arg-type]


def smaller_shapes(shape: Shape) -> Iterator[Shape]:
    """Every shape with one leaf taken away that still drafts something."""
    for i, child in enumerate(shape):
        rest = shape[:i] + shape[i + 1 :]
        if not child:
            if rest and child not in shape[:i]:
                yield rest
            continue
        for less in (*smaller_shapes(child), *([()] if child == ((),) else [])):
            yield (*shape[:i], less, *shape[i + 1 :])


@dataclass(frozen=True)
class Shaped:
    """A scheme of trees with a given shape, nested lists in an instance file."""

    shape: Shape

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", checked_shape(self.shape))

    @property
    def depth(self) -> int:
        return measure(self.shape)

    def smaller(self) -> Iterator[Self]:
        return (replace(self, shape=shape) for shape in smaller_shapes(self.shape))


@dataclass(frozen=True)
class Sized:
    """A scheme of whole numbers from 1 on, each at most DEPTH or as `largest` has it."""

    largest: ClassVar[dict[str, int]] = {}

    def __post_init__(self) -> None:
        for field in fields(self):
            whole(field.name, getattr(self, field.name), 1, self.largest.get(field.name, DEPTH))

    def smaller(self) -> Iterator[Self]:
        for field in fields(self):
            with suppress(BadInput):
                yield replace(self, **{field.name: getattr(self, field.name) - 1})


@dataclass(frozen=True)
class Grown(Sized):
    """A scheme of trees of `nodes` drafted tokens, none deeper than `depth`, whose shape is not given."""

    nodes: int
    depth: int
    largest: ClassVar[dict[str, int]] = {"nodes": NODES}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth > self.nodes:
            raise BadInput(f"{self.nodes} nodes cannot be {self.depth} deep")

    def smaller(self) -> Iterator[Self]:
        if self.depth == self.nodes > 1:
            yield replace(self, nodes=self.nodes - 1, depth=self.depth - 1)
        yield from super().smaller()


def grow(oracle: Oracle, proposal: Rows, prefix: Prefix, shape: Shape, siblings: Siblings) -> Node:
    """The drafted tree below `prefix`: the scheme's rule draws the children of each node.

    Where the support of q runs out the rule returns fewer tokens than the shape has children; those
    drawn take the shape's first entries in order.
    """
    if not shape:
        return Node(prefix, None)
    q = proposal[prefix]
    below = zip(siblings(oracle, q, len(shape)), shape, strict=False)
    children = [grow(oracle, proposal, (*prefix, x), each, siblings) for x, each in below]
    return Node(prefix, q, tuple(children), shape)


def _frozen(shape: list) -> Shape:
    return tuple(map(_frozen, shape))
