"""The time of each phase of a step."""

import time
from itertools import pairwise
from typing import Any

import torch


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
