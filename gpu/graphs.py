"""CUDA graphs: what a call launches, recorded once and launched again as one."""

import warnings
from collections.abc import Callable
from typing import TypeVar

import torch

Result = TypeVar("Result")


def captured(call: Callable[[], Result], device: torch.device) -> tuple[Callable[[], object], Result]:
    """How to launch the call again, and its result, whose tensors each launch overwrites.

    The call must read the same memory each time and wait for nothing (`waits`). It is run three times
    before, on a stream of its own: kernels are compiled and libraries set up.
    """
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = call()
    return graph.replay, result


def waits(call: Callable[[], object], device: torch.device) -> bool:
    """Whether a call waits for the device, as one that reads a number back does. Such a call cannot be
    captured, and an attempt would leave torch's generator and allocator in the middle of a capture.
    """
    with torch.cuda.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that this mode misses some
        torch.cuda.set_sync_debug_mode("error")
        try:
            call()
        except RuntimeError:
            return True
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return False
