"""One verification: the kernels in a row, and the memory they share. Nothing is read back."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import torch
import triton
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.kernels import fields
from draftproof.gpu.kernels.draw import draw
from draftproof.gpu.kernels.opening import opening
from draftproof.gpu.kernels.statistics import chunk_statistics
from draftproof.gpu.kernels.sweep import sweep
from draftproof.gpu.kernels.walk import walk
from draftproof.gpu.verify import Batch, Outcome

RULES = {
    "token": fields.COINS,
    "rrs": fields.COINS,
    "specinfer": fields.COINS,
    "block": fields.RATES,
    "traversal": fields.RATES,
    "greedy-block": fields.UNCAPPED,
}
WALKS = {"one-hot": False, "nss": True}
"""Deterministic drafts: whether siblings share a coin."""


@dataclass(frozen=True)
class Sizes:
    """How work is shared out: logits of the largest chunk, and of a warp by kernel; warps of an opening that
    bounds rates; chunks that a program of a sweep reads in turn where there are more than `many`.
    """

    chunk: int = 4096
    statistics: int = 2048
    sweep: int = 1024
    draw: int = 512
    opening: int = 8
    group: int = 4
    many: int = 8192


SIZES = Sizes()
"""Chosen by counting instructions and waits; `benchmarks/kernel_tuning.py` measures others on a GPU."""


@dataclass(frozen=True)
class Cut:
    """How a row of V logits is cut into `count` chunks of `size`."""

    size: int
    count: int

    @classmethod
    def of(cls, rows: int, V: int, device: torch.device) -> "Cut":
        """Chunks as large as leaves four programs a processor, but of 1,024 logits at least."""
        size, programs = SIZES.chunk, 4 * processors(device)
        while size > 1024 and rows * -(-V // size) < programs:
            size //= 2
        return cls(size, -(-V // size))


def processors(device: torch.device) -> int:
    """How many multiprocessors a GPU has; 1 elsewhere."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def rounds(tree: Tree) -> int:
    """How many sweeps can depend on one another: one for each earlier sibling on a path, then the node's own.

    A shared tree is read once, when it is first used; for trees that differ from row to row it is a bound.

    >>> rounds(Tree.chain(8)), rounds(Tree.of_shape([[[], []], [[], []]])), rounds(Tree.chain(0))
    (1, 3, 0)
    """
    return _rounds(tree) if tree.shared else tree.size - 1


@lru_cache(maxsize=64)
def _rounds(tree: Tree) -> int:
    parents = tree.parents[0].tolist()
    entered, tried = [0] * tree.size, [0] * tree.size
    for v in range(1, tree.size):
        f = parents[v]
        entered[v] = entered[f] + tried[f]
        tried[f] += 1
    return max(map(sum, zip(entered, tried, strict=True)))


def launch(name: str, batch: Batch, temperature: Tensor) -> Outcome:
    """Runs the kernels of that verifier on a batch of logits, with a temperature [B] for each request."""
    tree, target, proposal = batch.tree, batch.target, batch.proposal
    B, N, V = target.shape
    sampled = name in RULES and N > 1
    if not sampled or proposal is None:
        proposal = target[:, :0]
    if proposal.dtype != target.dtype:
        target, proposal = target.float(), proposal.float()
    I = proposal.shape[1]
    device = target.device
    cut = Cut.of(B * (N + I), V, device)
    target, proposal = _rows(target), _rows(proposal)
    tokens, coins, extra = batch.tokens.contiguous(), batch.coins.contiguous(), batch.extra.contiguous()
    tree_b = 0 if tree.shared else N
    parents, rows, turn, first = (
        table if tree.shared else table.expand(B, -1).contiguous()
        for table in (tree.parents, tree.rows, tree.turn, tree.first)
    )
    nodes = max(2, triton.next_power_of_2(N))
    chunks = max(2, triton.next_power_of_2(cut.count))

    def floats(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float32, device=device)

    def whole(*shape: int, dtype: torch.dtype = torch.int32) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    maxima, sums = floats(B, N + I, cut.count), floats(B, N + I, cut.count)
    normaliser, numbers, noise = floats(B, N + I), floats(B, fields.FIELDS.value, N), floats(B, N)
    placed = N if sampled and RULES[name] != fields.COINS else 0  # rows whose largest logits bound a rate
    places = whole(B, placed, cut.count)
    swept = floats(B, N, cut.count) if sampled else floats(0)
    ids, due, arrived = whole(B, N), whole(B, N), whole(B, N)
    stop, error = whole(B), whole(B, dtype=torch.int64)
    node, token = whole(B, dtype=torch.int64), whole(B, dtype=torch.int64)
    if not B:
        return Outcome(node, token, error)

    of_target = (target.stride(0), target.stride(1))
    strides = (*of_target, proposal.stride(0), proposal.stride(1))
    logits = (target, proposal, temperature)
    sizes = {"NODES": nodes, "CHUNKS": chunks}
    whole_chunk = {"CHUNK": cut.size, "num_warps": max(1, cut.size // SIZES.draw)}
    programs = B * (N + I) * cut.count
    group = SIZES.group if programs > SIZES.many else 1
    _run(chunk_statistics, programs)(
        *logits, maxima, sums, places, *strides, N, I, V, placed, cut.count,
        CHUNK=cut.size, num_warps=max(1, cut.size // SIZES.statistics),
    )  # fmt: skip
    rows_at_once = max(1, min(2048 // chunks, triton.next_power_of_2(N + I)))
    _run(opening, B)(
        *logits, maxima, sums, places, normaliser, parents, rows, turn, tokens, coins, extra,
        noise, ids, numbers, due, arrived, stop, error, *strides, tree_b, N, I, V, cut.count, tree.depth,
        RULE=RULES.get(name, fields.COINS), SAMPLED=sampled, ROWS=rows_at_once, CHUNK=cut.size,
        AT_ONCE=max(1, min(nodes, 512 // chunks)), num_warps=SIZES.opening if placed else 4, **sizes,
    )  # fmt: skip
    if sampled:
        for step in range(1, rounds(tree) + 1):
            _run(sweep, B, -(-cut.count // group), N - 1)(
                *logits, sums, normaliser, parents, rows, turn, noise, ids, numbers, due, arrived,
                stop, swept, *strides, tree_b, step, N, I, V, cut.count, GROUP=group, RULE=RULES[name],
                REPLACEMENT=tree.replacement, CHUNK=cut.size,
                num_warps=max(1, cut.size // SIZES.sweep), **sizes,
            )  # fmt: skip
    elif name in WALKS:
        _run(walk, B)(
            target, temperature, sums, normaliser, parents, first, turn, noise, ids, numbers, stop,
            *of_target, tree_b, N, V, cut.count, ONE_COIN=WALKS[name], **sizes, **whole_chunk,
        )  # fmt: skip
    _run(draw, B)(
        *logits, sums, normaliser, parents, rows, turn, ids, numbers, stop, swept, extra, error,
        node, token, *strides, tree_b, N, I, V, cut.count, SAMPLED=sampled, **sizes, **whole_chunk,
    )  # fmt: skip
    return Outcome(node, token, error)


def _run(kernel: Any, *programs: int) -> Callable[..., object]:
    # Without fused multiply-adds of the compiler's choice two kernels round one expression alike.
    return partial(kernel[programs], enable_fp_fusion=False)


def _rows(logits: Tensor) -> Tensor:
    return logits if logits.stride(-1) == 1 else logits.contiguous()
