"""How kernels divide their work among programs, and how one is launched."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import torch
import triton.language as tl

Numbers = TypeVar("Numbers", bound=tuple)


@dataclass(frozen=True)
class Sizes:
    """How the work is divided among programs and warps."""

    chunk: int = 4096  # logits in the largest chunk
    statistics: int = 2048  # logits per warp, in this kernel and the next two
    sweep: int = 1024
    draw: int = 512
    opening: int = 8  # warps, if rates are bounded
    group: int = 4  # chunks that one program of a sweep reads in turn, if there are more than
    many: int = 8192
    span: int = 64  # logits of which the largest is kept for a filter
    search: int = 4096  # logits that a filter's search reads at once


SIZES = Sizes()
"""Chosen by counting instructions and waits; `benchmarks.on_gpu.kernel_tuning` measures others on a GPU."""


@dataclass(frozen=True)
class Split:
    """A row of V logits as `count` chunks of `size`."""

    size: int
    count: int

    @classmethod
    def of(cls, rows: int, V: int, device: torch.device) -> "Split":
        """The largest chunks that give each processor four programs, but at least 1,024 logits each."""
        size, programs = SIZES.chunk, 4 * processors(device)
        while size > 1024 and rows * -(-V // size) < programs:
            size //= 2
        return cls(size, -(-V // size))


def processors(device: torch.device) -> int:
    """The number of a GPU's multiprocessors; 1 elsewhere."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def power(count: int) -> int:
    """The power of 2 from `count` on, at least 2."""
    return max(2, 1 << (count - 1).bit_length())


def known(sizes: Numbers) -> Numbers:
    """A tuple of numbers that the compiler is to know."""
    return type(sizes)(*map(tl.constexpr, sizes))


def run(kernel: Any, *programs: int) -> Callable[..., object]:
    """A kernel on a grid, without fused multiply and add: two kernels must round an expression alike."""
    return partial(kernel[programs], enable_fp_fusion=False)
