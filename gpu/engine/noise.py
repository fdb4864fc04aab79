"""Where every uniform number of a run comes from: one stream a row, whatever batch the row is in."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class Noise:
    """Uniform float32 numbers in [0, 1); row b's depend on (seed, b), or on its own seed, alone.

    >>> both, alone = Noise(7, 2, torch.device("cpu")), Noise(7, 1, torch.device("cpu"))
    >>> torch.equal(both.uniforms(3)[:1], alone.uniforms(3))
    True
    """

    def __init__(self, seed: int | Sequence[int], rows: int, device: torch.device) -> None:
        seeds = (
            [(seed, row) for row in range(rows)] if isinstance(seed, int) else [(each, 0) for each in seed]
        )
        self.streams = [np.random.default_rng(each) for each in seeds]
        self.device = device

    def uniforms(self, count: int) -> Tensor:
        """The next `count` numbers of every row, [B, count]."""
        drawn = np.stack([stream.random(count, dtype=np.float32) for stream in self.streams])
        return torch.from_numpy(drawn).to(self.device, non_blocking=True)

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        self.streams = [self.streams[row] for row in rows]
