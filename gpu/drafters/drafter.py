"""What a drafter is, and what it hands to the engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.engine.recorder import Recorder
from draftproof.gpu.engine.sampling import Sampling


@dataclass(frozen=True)
class Draft:
    """A drafted tree: tokens [B, N - 1] (-1 where none was drawn) and the rows they were drawn from.

    proposal [B, I, V], or None for drafts that are a function of the context. places [1 or B, N]
    says where the drafter's cache holds each node, behind the text; 0 for nodes it does not hold.
    """

    tree: Tree
    tokens: Tensor
    proposal: Tensor | None
    places: Tensor | None = None


@dataclass(frozen=True)
class Accepted:
    """What one step settled, for drafters to follow.

    path [B, depth + 1]: the nodes from the root to the last accepted one, then zeros; counts and
    read [B]: their number, on the host and on the device; tokens: what each row emitted; draft: what was
    drafted; hidden: the target's hidden states at the tree's nodes, where the drafter asked for them.
    """

    path: Tensor
    counts: list[int]
    read: Tensor
    tokens: list[list[int]]
    draft: Draft
    hidden: tuple[Tensor, ...] | None


class Structure(Protocol):
    """A shape of drafts. size counts the nodes with the root, depth the longest path."""

    name: str
    size: int
    depth: int
    kind: str
    """What the verifiers call it; see gpu.verify.verifier."""

    def to(self, device: torch.device) -> "Structure":
        """The same structure with its tables on a device."""
        ...

    def grow(self, session: "Grower", sampling: Sampling, uniforms: Tensor) -> Draft:
        """Drafts with a session's rows; uniforms [B, size - 1], one a node."""
        ...


@dataclass(frozen=True)
class Level:
    """Nodes of one depth that a drafter is asked about: they take the places first, first + 1, ...

    sees [1 or B, m, W] is as in gpu.layout, by place; above [1 or B, m] is the index of each
    one's parent in the level before (the root alone, at first).
    """

    depth: int
    first: int
    sees: Tensor
    above: Tensor


class Grower(Protocol):
    """A session whose drafter gives rows node by node; what a draft does with them can be recorded, too."""

    recorder: Recorder

    def root(self) -> Tensor:
        """Logits [B, V] of the token after each row's text."""
        ...

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        """Logits [B, m, V] after each of the tokens [B, m] of a level."""
        ...


class Session(Protocol):
    """A drafter at work on a batch."""

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Drafts for every row."""
        ...

    def accept(self, accepted: Accepted) -> None:
        """Follows what was emitted."""
        ...

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        ...

    def close(self) -> None:
        """The run is over: what another one can use is given back."""
        ...


class Drafter(Protocol):
    """Proposes tokens. `reads_hidden`: wants the target's hidden states. `stateless`: its rows depend on the
    context alone, not on where the last step stopped. `only_chains`: cannot draft trees.
    """

    name: str
    reads_hidden: bool
    stateless: bool
    only_chains: bool

    def begin(self, prompts: Sequence[Sequence[int]], room: int, hidden: Any) -> Session:
        """Starts on a batch of prompts; `hidden` are the target's hidden states of all but their last
        tokens, [B, T, H] each, if wanted and if there are any.
        """
        ...
