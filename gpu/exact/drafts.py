"""Every draft of a family of instances as tensors: one row a draft."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from flint import fmpq
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify import Outcome, Rates, Verifier
from draftproof.gpu.verify.residual import remainder
from draftproof.simulators.enumerate import outcomes
from draftproof.theory.draft import Draft, Node
from draftproof.theory.instance import Instance
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
    """The drafts of an instance that have positive probability, or those that another table draws."""
    table = instance.proposal if proposal is None else proposal
    for weight, draft in outcomes(lambda oracle: instance.draft.draw(oracle, table)):
        yield Drafted(instance, draft, weight)


@dataclass(frozen=True)
class Batch:
    """Drafts as the verifiers take them, in float64: target [D, N, V], proposal [D, I, V], tokens [D, N-1].

    Drafts of one structure share a tree; drafts of several get one a row, missing nodes with token -1.
    """

    tree: Tree
    target: Tensor
    proposal: Tensor
    tokens: Tensor

    def to(self, dtype: torch.dtype, device: str | torch.device) -> "Batch":
        """The rows in another type, everything on a device; the numbers rounded once."""
        rows = self.target.to(device, dtype), self.proposal.to(device, dtype)
        return Batch(self.tree.to(device), *rows, self.tokens.to(device))

    def judged(self, verifier: Verifier) -> Rates:
        """What a verifier makes of the drafts."""
        return verifier.rates(self.tree, self.target, self.proposal, *self._tokens)

    def left(self, cut: Tensor, node: Tensor) -> Tensor:
        """[D, V]: the row that Y is drawn from at node [D], not normalised."""
        return remainder(self.tree, self.target, self.proposal, *self._tokens, cut, node)

    def all_left(self, cut: Tensor) -> Tensor:
        """[D, N, V]: these rows at every node."""
        D, N = self.target.shape[:2]
        nodes = [torch.full((D,), node, device=cut.device) for node in range(N)]
        return torch.stack([self.left(cut, node) for node in nodes], 1)

    @property
    def _tokens(self) -> tuple[Tensor, Tensor]:
        return self.tokens.clamp(min=0), self.tree.drawn(self.tokens)

    def verified(self, verifier: Verifier, coins: Tensor, extra: Tensor) -> Outcome:
        """What a verifier decides with that noise."""
        return verifier.verify(self.tree, self.target, self.proposal, self.tokens, coins, extra)

    def take(self, which: Tensor) -> "Batch":
        """Some rows, in any order, also repeated."""
        return Batch(self.tree.take(which), self.target[which], self.proposal[which], self.tokens[which])


def batch(drafts: Sequence[Drafted]) -> Batch:
    """The tensors of some drafts of one vocabulary and scheme."""
    N = max(len(drafted.nodes) for drafted in drafts)
    V = drafts[0].instance.vocab
    shapes = [tuple(drafted.parents) for drafted in drafts]
    nowhere = [0.0] * V
    target, proposal, tokens = [], [], []
    known: dict[int, list[float]] = {}
    I = 1

    def floats(row: Row) -> list[float]:
        if id(row) not in known:
            known[id(row)] = [float(mass) for mass in row]
        return known[id(row)]

    for drafted in drafts:
        p, missing = drafted.instance.target, N - len(drafted.nodes)
        target.append([floats(p[node.prefix]) for node in drafted.nodes] + [nowhere] * missing)
        q = drafted.instance.proposal
        inner = [floats(q[node.prefix]) for node in drafted.nodes if node.children]
        I = max(I, len(inner))
        proposal.append(inner)
        tokens.append([node.token for node in drafted.nodes[1:]] + [-1] * missing)
    for inner in proposal:
        inner.extend([nowhere] * (I - len(inner)))
    if len(set(shapes)) == 1:
        tree = Tree(shapes[0], replacement=drafts[0].draft.replacement)
    else:
        padded = torch.tensor([(*shape, *[0] * (N - len(shape))) for shape in shapes])
        tree = Tree(padded, replacement=drafts[0].draft.replacement)
    rows = torch.tensor(target, dtype=torch.float64), torch.tensor(proposal, dtype=torch.float64)
    return Batch(tree, *rows, torch.tensor(tokens).reshape(len(drafts), N - 1))
