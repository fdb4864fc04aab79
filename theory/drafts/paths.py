"""K independent chains, merged by prefix."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft, Node, Path
from draftproof.theory.drafts.shape import Sized, every
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Paths(Sized):
    """`count` i.i.d. chains of `depth` tokens (sun2023spectr).

    Merged by prefix they are a tree drawn without replacement whose children stand in order of
    first appearance; `draft.paths` keeps all of them in drawing order, equal ones repeated.
    """

    count: int
    depth: int
    kind: ClassVar[str] = "paths"
    label = kind
    largest: ClassVar[dict[str, int]] = {"count": 64}

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        leaves = [_leaf(oracle, proposal, context, self.depth) for _ in range(self.count)]
        root = _merged(proposal, context, leaves)
        return Draft(root, paths=tuple(_path_to(root, leaf) for leaf in leaves))

    def outcomes(self, support: int) -> int:
        return support ** (self.depth * self.count)


def _leaf(oracle: Oracle, proposal: Rows, prefix: Prefix, depth: int) -> Prefix:
    for _ in range(depth):
        prefix = (*prefix, oracle.choose(proposal[prefix]))
    return prefix


def _merged(proposal: Rows, prefix: Prefix, leaves: list[Prefix]) -> Node:
    below = [leaf for leaf in leaves if len(leaf) > len(prefix)]
    if not below:
        return Node(prefix, None)
    tokens = dict.fromkeys(leaf[len(prefix)] for leaf in below)  # first appearance
    children = (
        _merged(proposal, (*prefix, x), [leaf for leaf in below if leaf[len(prefix)] == x]) for x in tokens
    )
    shape = tuple([every(1, len(leaf) - len(prefix) - 1) for leaf in below])
    return Node(prefix, proposal[prefix], tuple(children), shape)


def _path_to(root: Node, leaf: Prefix) -> Path:
    path = [root]
    for token in leaf[len(root.prefix) :]:
        child = path[-1].child(token)
        assert child is not None
        path.append(child)
    return tuple(path)


SCHEME = Paths
