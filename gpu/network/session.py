"""What a drafter and a draft structure exchange: the session that gives rows, and the draft it grows into."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.network.reader import Reader
from draftproof.gpu.network.whole import WholeReader
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling, softened
from draftproof.gpu.sampling.tree import Tree


@dataclass(frozen=True)
class Draft:
    """A drafted tree: tokens [B, N - 1], -1 where none was drawn, and the rows [B, I, V] that they were drawn
    from: as logits, which are filtered and divided by `heat`, or as probabilities in `rows`; neither for
    deterministic drafts. places [1 or B, N]: each node's slot in the drafter's KV cache, counted from the end
    of the text (0 for nodes that the cache does not hold); None if the k-th node is at place k. strata
    [B, I, V]: of a stratified tree, as in `verify.Drafts`. confidence [B, N - 1]: of a chain, the drafter's
    own estimate of the probability that each token is accepted, from earlier tokens only; None if the drafter
    makes no estimate.
    """

    tree: Tree
    tokens: Tensor
    rows: Tensor | None = None
    logits: Tensor | None = None
    heat: float = 1.0
    places: Tensor | None = None
    strata: Tensor | None = None
    confidence: Tensor | None = None

    @cached_property
    def proposal(self) -> Tensor | None:
        """The rows as probabilities; None for deterministic drafts."""
        return self.rows if self.logits is None else softened(self.logits, self.heat)

    @property
    def unscaled(self) -> tuple[Tensor | None, float]:
        """(logits, heat): the rows as logits to be divided by `heat`; None for deterministic drafts."""
        if self.logits is not None:
            return self.logits, self.heat
        return None if self.rows is None else self.rows.log(), 1.0


@dataclass(frozen=True)
class Level:
    """Nodes of one depth that a drafter reads in one pass, stored at the places first, first + 1, ...
    sees [1 or B, m, W]: as in `Tree`, by place, or None on a chain; above [1 or B, m]: the parents' indices
    in the previous level.
    """

    depth: int
    first: int
    sees: Tensor | None
    above: Tensor


@dataclass(frozen=True)
class Accepted:
    """The tokens that one step committed, which the drafter must read next.

    path [B, depth + 1]: the nodes from the root to the last accepted one, then zeros; counts: the number of
    these nodes in each row, and read [B] the same on the device; tokens: the tokens each row emitted; hidden:
    the target's hidden states at the tree's nodes, if the drafter reads them.
    """

    path: Tensor
    counts: list[int]
    read: Tensor
    tokens: list[list[int]]
    draft: Draft
    hidden: tuple[Tensor, ...] | None


class Session:
    """A drafter's state on a batch. Drafters that are networks keep their KV cache in `reader` and each row's
    input to the next draft in `last`.
    """

    last: Tensor

    def __init__(self, reader: Reader | WholeReader) -> None:
        self.reader: Any = reader

    def root(self) -> Tensor:
        """Logits [B, V] of the token after each row's text."""
        raise NotImplementedError

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        """Logits [B, m, V] after each of the tokens [B, m] of a level."""
        raise NotImplementedError

    def draft(
        self, structure: "Structure", sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Drafts for every row; uniforms [B, size - 1]. The history is that of the sampling's processors."""
        return structure.grow(self, sampling, uniforms, history)

    def accept(self, accepted: Accepted) -> None:
        """Reads the tokens that a step committed."""
        raise NotImplementedError

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.reader.keep(rows)
        self.last = self.last[rows]


class Structure:
    """A draft structure: `size` nodes with the root, longest path `depth`, `kind` as in `Verifier.drafts`."""

    name: str
    size: int
    depth: int
    kind: str

    @property
    def slots(self) -> int:
        """The cache slots that a draft takes at most."""
        return self.size

    def to(self, device: torch.device) -> "Structure":
        """The same structure with its tables, if it has any, on a device."""
        return self

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Drafts for every row of a session; uniforms [B, size - 1]."""
        raise NotImplementedError
