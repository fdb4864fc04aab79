"""Uniform numbers from key and position on the device: those of `gpu.sampling.noise`, bit for bit."""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
# Triton declares that an operation may return nothing.
import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu.kernels import grid

UNIT = tl.constexpr(2.0**-53)


@triton.jit
def philox_numbers(keys, positions, numbers, count, BLOCKS: tl.constexpr):
    """One program per row: four numbers from each block of Philox, of the 53 highest bits of its words."""
    b = tl.program_id(0).to(tl.int64)
    block = tl.arange(0, BLOCKS)
    zero = (block * 0).to(tl.uint64)
    at = zero + tl.load(positions + b).to(tl.uint64)
    first, second = tl.load(keys + 2 * b), tl.load(keys + 2 * b + 1)
    words = tl.philox_impl(
        (block + 1).to(tl.uint64), at, zero, zero, first.to(tl.uint64, bitcast=True) + zero,
        second.to(tl.uint64, bitcast=True) + zero,
    )  # fmt: skip
    for j in tl.static_range(4):
        place = 4 * block + j
        number = (words[j] >> 11).to(tl.float64) * UNIT
        tl.store(numbers + b * count + place, number, mask=place < count)


def uniforms(keys: Tensor, positions: Tensor, count: int) -> Tensor:
    """[B, count] float64: the first numbers of every row; keys [B, 2] and positions [B] as int64."""
    numbers = torch.empty(len(keys), count, dtype=torch.float64, device=keys.device)
    if numbers.numel():
        with torch.cuda.device_of(keys):  # Triton launches on the current device
            grid.run(philox_numbers, len(keys))(
                keys.contiguous(), positions, numbers, count, BLOCKS=grid.power(-(-count // 4))
            )
    return numbers
