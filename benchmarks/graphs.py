"""CUDA graphs: the kernel launches of a repeated call are captured once and replayed as one launch."""

import warnings
from collections.abc import Callable
from typing import TypeVar

import torch

Result = TypeVar("Result")


def captured(call: Callable[[], Result], device: torch.device) -> tuple[Callable[[], object], Result]:
    """Captures a call; returns the replay function and the result, whose tensors each replay overwrites.

    The call must read the same memory each time and must not wait for the device (see `waits`). Before the
    capture it runs three times on a separate stream, so that kernels are compiled and libraries are set up.
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
    """Whether a call waits for the device, for instance by reading a number back.

    Such a call cannot be captured: an attempt would leave torch's generator and allocator in capture mode.
    """
    with torch.cuda.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that this mode misses some synchronisations
        torch.cuda.set_sync_debug_mode("error")
        try:
            call()
        except RuntimeError:
            return True
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return False
