"""What a drafter is, and what its sessions exchange with the engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from draftproof.gpu.passes import Reader
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Draft, Grower, Structure


@dataclass(frozen=True)
class Accepted:
    """What one step committed, for drafters to follow.

    path [B, depth + 1]: the nodes from the root to the last accepted one, then zeros; counts: their number
    in each row, and read [B] the same on the device; tokens: what each row emitted; draft: what was
    drafted; hidden: the target's hidden states at the tree's nodes, if the drafter reads them.
    """

    path: Tensor
    counts: list[int]
    read: Tensor
    tokens: list[list[int]]
    draft: Draft
    hidden: tuple[Tensor, ...] | None


class Session(Grower):
    """A drafter at work on a batch. Sessions of networks keep what they read in `reader`, and in `last`, by
    row, what the next draft starts from.
    """

    last: Tensor

    def __init__(self, reader: Reader) -> None:
        self.reader, self.recorder = reader, reader.recorder

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Drafts for every row; uniforms [B, size - 1]."""
        return structure.grow(self, sampling, uniforms)

    def accept(self, accepted: Accepted) -> None:
        """Follows what was emitted."""
        raise NotImplementedError

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.reader.keep(rows)
        self.last = self.last[rows]

    def close(self) -> None:
        """Ends the run."""
        self.reader.close()


class Drafter:
    """Proposes tokens.

    `reads_hidden`: wants the target's hidden states; `stateless`: its rows depend on the context alone, not
    on where the last step stopped; `only_chains`: cannot draft trees.
    """

    name: str
    reads_hidden = stateless = only_chains = False

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        """Starts on a batch of prompts whose texts take at most `capacity` slots; `hidden` are the target's
        hidden states of all but their last tokens, [B, T, H] each, if wanted and if there are any.
        """
        raise NotImplementedError
