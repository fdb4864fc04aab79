"""All drafts of a family of instances as tensors, one row per draft."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from flint import fmpq

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Drafts
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.draft import Draft, Node
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Row
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Drafted:
    """One drafted tree of an instance: its nodes breadth first, siblings in drawing order."""

    instance: Instance
    draft: Draft
    weight: fmpq
    nodes: list[Node] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes.append(self.draft.root)
        self.parents.append(-1)
        for i, node in enumerate(self.nodes):
            self.nodes.extend(node.children)
            self.parents.extend([i] * len(node.children))


def every(instance: Instance, proposal: Rows | None = None) -> Iterator[Drafted]:
    """All drafts of positive probability, drawn from `proposal` or, without one, the instance's proposal."""
    table = instance.proposal if proposal is None else proposal
    for weight, draft in outcomes(lambda oracle: instance.draft.draw(oracle, table)):
        yield Drafted(instance, draft, weight)


def from_leaf_to_root(node: Node) -> list[Node]:
    """The nodes of a subtree, depth first, children in drawing order before their parent."""
    return [below for child in node.children for below in from_leaf_to_root(child)] + [node]


def batch(drafts: Sequence[Drafted]) -> Drafts:
    """Drafts of one vocabulary and scheme as a float64 batch, one draft per row.

    Drafts of the same shape share one tree. Otherwise each row has its own, and missing nodes have token -1.
    """
    N = max(len(drafted.nodes) for drafted in drafts)
    I = max(1, *(sum(node.proposal is not None for node in drafted.nodes) for drafted in drafts))
    V = drafts[0].instance.vocab
    as_floats = cache(lambda row: list(map(float, row)))

    def padded(rows: list, size: int) -> list:
        return rows + [[0.0] * V] * (size - len(rows))

    target, proposal, strata, tokens = [], [], [], []
    for drafted in drafts:
        nodes, p = drafted.nodes, drafted.instance.target
        laws = [drafted.draft.laws(node) for node in nodes if node.children]
        laws += [(node.proposal,) for node in nodes if not node.children and node.proposal is not None]
        target.append(padded([as_floats(p[node.prefix]) for node in nodes], N))
        proposal.append(padded([as_floats(mean(rows)) for rows in laws], I))
        strata.append(padded([as_floats(places(rows)) for rows in laws], I))
        tokens.append([node.token for node in nodes[1:]] + [-1] * (N - len(nodes)))
    parents = [drafted.parents + [0] * (N - len(drafted.parents)) for drafted in drafts]
    shared = all(each.parents == drafts[0].parents for each in drafts)
    first = drafts[0].draft
    given = parents[0] if shared else torch.tensor(parents)
    tree = Tree(given, replacement=first.replacement, stratified=first.stratified, grown=first.grown)
    rows = torch.tensor(target, dtype=torch.float64), torch.tensor(proposal, dtype=torch.float64)
    among = torch.tensor(strata, dtype=torch.float64) if first.stratified else None
    return Drafts(tree, *rows, torch.tensor(tokens).reshape(len(drafts), N - 1), strata=among)


def mean(laws: Sequence[Row]) -> Row:
    """The mean of siblings' rows."""
    return tuple(sum(masses, ZERO) / len(laws) for masses in zip(*laws, strict=True))


def places(laws: Sequence[Row]) -> Row:
    """The strata of each token, as `Drafts.strata`: the mean of the numbers of its strata."""
    return tuple(
        sum((j * mass for j, mass in enumerate(masses)), ZERO) / (sum(masses, ZERO) or ONE)
        for masses in zip(*laws, strict=True)
    )
