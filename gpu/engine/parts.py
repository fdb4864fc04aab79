"""The noise of a run, and its clock."""

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.sampling import noise


class Clock:
    """Seconds between marks, by the host's clock or by GPU events, for which `read` waits."""

    def __init__(self, device: torch.device, of_device: bool) -> None:
        self.stream = torch.cuda.current_stream(device) if of_device else None
        self.marks: list[Any] = []

    def mark(self) -> None:
        if self.stream is None:
            self.marks.append(time.perf_counter())
        else:
            self.marks.append(self.stream.record_event(torch.cuda.Event(enable_timing=True)))

    def read(self) -> list[float]:
        """The times between the marks since the last `read`."""
        marks, self.marks = self.marks, []
        if self.stream is None:
            return [after - before for before, after in pairwise(marks)]
        marks[-1].synchronize()
        return [before.elapsed_time(after) / 1e3 for before, after in pairwise(marks)]


class Noise:
    """The numbers of each row of a batch: those of prompt b depend only on (seed, b), or on seed[b], and on
    how many tokens of its text were emitted before.
    """

    def __init__(self, seed: int | Sequence[int], prompts: Sequence[int], device: torch.device) -> None:
        pairs = [(seed, b) if isinstance(seed, int) else (seed[b], 0) for b in prompts]
        self.keys: Any = np.array([noise.key(*pair) for pair in pairs])
        self.positions: Any = np.zeros(len(pairs), np.int64)
        self.device, self.there = device, kernels.compiled_for(device)
        if self.there:  # then all of it is on the device, and the host never waits
            self.keys = torch.from_numpy(self.keys.view(np.int64)).to(device)
            self.positions = torch.from_numpy(self.positions).to(device)

    def uniforms(self, count: int) -> Tensor:
        """The first `count` numbers of every row at its position, [B, count] float64."""
        if self.there:
            from draftproof.gpu.kernels.noise import uniforms

            return uniforms(self.keys, self.positions, count)
        rows = zip(self.keys, self.positions.tolist(), strict=True)
        drawn = np.array([noise.uniforms(key, position, count) for key, position in rows])
        return torch.from_numpy(drawn).to(self.device, non_blocking=True)

    def advance(self, counts: Sequence[int], read: Tensor) -> None:
        """Every row goes on by so many tokens; `read` [B] is the same on the device."""
        self.positions = self.positions + (read if self.there else np.array(counts))

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.keys, self.positions = self.keys[rows], self.positions[rows]
