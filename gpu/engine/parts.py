"""What a run keeps of each row of its batch, as parts with one protocol for rows that leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from draftproof.gpu.network.session import Session
from draftproof.gpu.sampling.history import History
from draftproof.gpu.verify.carry import Carry


class Part(Protocol):
    """Something that is kept of each row of a batch."""

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""


class Noise:
    """Uniform float32 numbers in [0, 1), for each row from a generator of its own."""

    def __init__(self, device: torch.device, streams: list[np.random.Generator]) -> None:
        self.device, self.streams = device, streams

    @classmethod
    def seeded(cls, seed: int | Sequence[int], rows: int, device: torch.device) -> "Noise":
        """Row b's numbers depend only on (seed, b), or on its own seed."""
        pairs = zip(repeat(seed), range(rows)) if isinstance(seed, int) else zip(seed, repeat(0))
        return cls(device, [np.random.default_rng(pair) for pair in pairs])

    def uniforms(self, count: int) -> Tensor:
        """The next `count` numbers of every row, [B, count]."""
        drawn = np.empty((len(self.streams), count), np.float32)
        for stream, row in zip(self.streams, drawn, strict=True):
            stream.random(dtype=np.float32, out=row)
        return torch.from_numpy(drawn).to(self.device, non_blocking=True)

    def of(self, numbers: Sequence[int]) -> "Noise":
        """The part of these prompts, given by number."""
        return Noise(self.device, [self.streams[number] for number in numbers])

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.streams = [self.streams[row] for row in rows]


@dataclass
class Parts:
    """All parts of a batch: the target's `reader`, each row's `noise`, the drafter's `session`, the
    processors' `history` and the verifier's `carry`, None where the run has none. `last` [B, 1] is each row's
    last token, which the next pass reads.
    """

    last: Tensor
    reader: Any
    noise: Noise
    session: Session | None = None
    history: History | None = None
    carry: Carry | None = None

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.last = self.last[rows]
        parts: Sequence[Part | None] = (self.reader, self.noise, self.session, self.history, self.carry)
        for part in filter(None, parts):
            part.keep(rows)

    def close(self) -> None:
        """Ends the run: networks are let go, and recordings kept for the next one."""
        self.reader.close()
        if self.session is not None:
            self.session.close()
