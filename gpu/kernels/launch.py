"""Launches the kernels of one verification and allocates the memory they share; the host never waits."""

from functools import lru_cache, partial
from typing import Any

import torch
import triton
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.kernels import cells, grid
from draftproof.gpu.kernels.cells import Strata
from draftproof.gpu.kernels.draw import draw
from draftproof.gpu.kernels.filtering import statistics
from draftproof.gpu.kernels.nodes import (
    CELLS,
    COINS,
    FIELDS,
    PP,
    QQ,
    RATES,
    Block,
    Chunks,
    Counts,
    Logits,
    Nodes,
    Tree,
)
from draftproof.gpu.kernels.opening import opening
from draftproof.gpu.kernels.sweep import sweep
from draftproof.gpu.kernels.walk import walk
from draftproof.gpu.sampling.rows import PLAIN, Settings
from draftproof.gpu.sampling.tree import Tree as Shape
from draftproof.gpu.verify import Batch, Outcome, Verifier
from draftproof.gpu.verify import optimal as plans
from draftproof.theory.values.optimal_classes import classes as count
from draftproof.theory.verifier import resolved
from draftproof.theory.verifiers import VERIFIERS


@lru_cache(maxsize=64)
def rounds(tree: Shape) -> int:
    """The length of the longest sequence of dependent sweeps: one for each earlier sibling on a path and for
    each child of the path's end. Exact for a shared tree, which is read back once; of per-row trees the
    largest number of leaves, since each of these nodes has a leaf of its own below it.
    """
    if not tree.shared:
        return tree.leaves
    before = torch.where(tree.above, tree.older.sum(-1)[:, None], 0).sum(-1)
    return int((before + (tree.children > 0).sum(-1)).max())


def launch(verifier: Verifier, batch: Batch, temperature: Tensor, filters: Settings = PLAIN) -> Outcome:
    """Runs the verifier's kernels on a batch of logits; temperature [B, 2]: for each request that of
    the target and that of the proposal. Filters apply to the target; the proposal is filtered already.
    """
    longs = partial(torch.empty, len(batch.target), dtype=torch.long, device=batch.target.device)
    drawn = Outcome(longs(), longs(), longs())
    if len(batch.target):
        Launch(verifier, batch, temperature, filters, drawn).all()
    return drawn


class Launch:
    """The kernels of one verification, and the memory that they share."""

    def __init__(
        self, verifier: Verifier, batch: Batch, temperature: Tensor, filters: Settings, drawn: Outcome
    ) -> None:
        self.verifier, self.batch, self.filters, self.drawn = verifier, batch, filters, drawn
        B, N, V = batch.target.shape
        rule: Any = resolved(VERIFIERS[verifier.name].kernel)
        self.walks = rule is walk
        rule = COINS if self.walks else rule
        self.sampled = sampled = not self.walks and N > 1
        target, proposal = batch.target, batch.proposal
        if not sampled or proposal is None:
            proposal = target[:, :0]
        if proposal.dtype != target.dtype:
            target, proposal = target.float(), proposal.float()
        target, proposal = (
            rows if rows.stride(-1) == 1 else rows.contiguous() for rows in (target, proposal)
        )
        I, device = proposal.shape[1], target.device
        self.counts = Counts(N, I, V)
        self.split = grid.Split.of(B * (N + I), V, device)
        self.floats = partial(torch.empty, dtype=torch.float32, device=device)
        C, sizes = self.split.count, grid.SIZES
        sizes_known = C, self.split.size, grid.power(C), grid.power(N), rule.value
        self.block = grid.known(Block(*sizes_known))
        strides = target.stride(0), target.stride(1), proposal.stride(0), proposal.stride(1)
        self.logits = Logits(target, proposal, temperature, None, *strides)
        # Rows whose largest logits bound a rate.
        self.placed = N if sampled and rule == RATES else 0
        self.by_cells = sampled and rule == CELLS
        ints = partial(torch.empty, dtype=torch.int32, device=device)
        maxima, sums = self.floats(B, N + I, C), self.floats(B, N + I, C)
        self.chunks = Chunks(maxima, sums, ints(B, self.placed, C), self.floats(B, N + I, 2))
        self.nodes = Nodes(
            self.floats(B, N), ints(B, N), self.floats(B, FIELDS.value, N), ints(B, N), ints(B, N), ints(B)
        )  # fmt: skip
        self.swept = self.floats(B, 1 if self.by_cells else N, C) if sampled else self.floats(0)
        tables = (getattr(batch.tree, name) for name in ("parents", "rows", "turn"))
        if not batch.tree.shared:
            tables = (table.expand(B, -1).contiguous() for table in tables)
        self.tree = Tree(*tables, stride=0 if batch.tree.shared else N)
        self.of_row = max(1, self.split.size // sizes.draw)  # warps

    def all(self) -> None:
        """Launches them one after the other."""
        read = self.logits, self.chunks, self.counts, self.placed, self.split
        self.logits = statistics(self.filters, *read, draft=(self.tree, self.batch.tokens.contiguous()))
        self._opening()
        if self.by_cells:
            self._cells()
            return
        B, (N, _, _), C = len(self.batch.target), self.counts, self.split.count
        if self.sampled:
            group = grid.SIZES.group if B * sum(self.counts[:2]) * C > grid.SIZES.many else 1
            for step in range(1, rounds(self.batch.tree) + 1):
                grid.run(sweep, B, -(-C // group), N - 1)(
                    self.logits, self.chunks, self.tree, self.nodes, self.swept, self.counts, step,
                    self.block, GROUP=group, REPLACEMENT=self.batch.tree.replacement,
                    num_warps=max(1, self.split.size // grid.SIZES.sweep),
                )  # fmt: skip
        elif self.walks:
            grid.run(walk, B)(
                self.logits, self.chunks, self.tree, self.nodes, self.counts, self.block,
                num_warps=self.of_row,
            )  # fmt: skip
        grid.run(draw, B)(
            self.logits, self.chunks, self.tree, self.nodes, self.swept, self.batch.extra.contiguous(),
            self.drawn, self.counts, self.block, SAMPLED=self.sampled, num_warps=self.of_row,
        )  # fmt: skip

    def _opening(self) -> None:
        batch, chunks, nodes = self.batch, self.block.CHUNKS.value, self.block.NODES.value
        rows_at_once = max(1, min(2048 // chunks, triton.next_power_of_2(sum(self.counts[:2]))))
        drawn = tuple(each.contiguous() for each in (batch.tokens, batch.coins, batch.extra))
        grid.run(opening, len(batch.target))(
            self.logits, self.chunks, self.tree, drawn, self.nodes, self.drawn.error, self.counts,
            batch.tree.depth, self.block, SAMPLED=self.sampled, ROWS=rows_at_once,
            AT_ONCE=max(1, min(nodes, 512 // chunks)), num_warps=grid.SIZES.opening if self.placed else 4,
        )  # fmt: skip

    def _cells(self) -> None:
        batch, (N, _, _), C = self.batch, self.counts, self.split.count
        tree, B = batch.tree, len(batch.target)
        strata, groups = None, 1
        if batch.strata is not None:
            places = batch.strata if batch.strata.stride(-1) == 1 else batch.strata.contiguous()
            strata = Strata(places, places.stride(0), places.stride(1))
            groups = max(2, int(triton.next_power_of_2(tree.children.shape[2])))
        classes = count(strata is not None, self.counts.V)
        size = grid.known(cells.Cells(groups, classes))
        found = self.floats(B, N, C, classes, 2 * groups)
        rows = self.logits, self.chunks, self.tree, self.nodes, strata
        grid.run(cells.masses, B, N, C)(*rows, found, self.counts, self.block, size, num_warps=8)
        cuts = self._planned(found.sum(2, dtype=torch.float64))
        rows = *rows, cuts, self.swept
        grid.run(cells.residual_row, B, C)(
            *rows, self.counts, self.block, size, num_warps=self.of_row
        )  # fmt: skip
        grid.run(cells.draw, B)(
            *rows, batch.extra.contiguous(), self.drawn, self.counts, self.block, size,
            num_warps=self.of_row,
        )  # fmt: skip

    def _planned(self, totals: Tensor) -> Tensor:
        tree, ids, numbers = self.batch.tree, self.nodes.ids, self.nodes.numbers
        drawn = ids >= 0
        order = torch.cat(tree.generations)
        child = tree.children[:, order].expand(len(ids), -1, -1)
        there, x, p, q = (each.gather(1, child.flatten(1)).view(child.shape)
                          for each in (drawn, ids, numbers[:, PP.value], numbers[:, QQ.value]))  # fmt: skip
        there = there & (child > 0)
        most = tree.children.shape[2]
        if self.batch.strata is None:
            groups = 1
        else:
            groups, q = most, q * there.sum(2, keepdim=True)
        sums = tuple(each[..., :groups] for each in totals[:, order].chunk(2, 3))
        every = plans.Nodes.made(child, there, x, (p, q), sums)
        found = plans.planned(every, tree, drawn, self.verifier.upwards)
        stop = self.verifier.decide(tree, found.accept, drawn.clone(), self.nodes.coins[:, 1:])
        self.nodes.stop.copy_(tree.turn.expand(len(ids), -1).gather(1, stop[:, None])[:, 0])
        return pad(found.cut, (0, totals.shape[3] // 2 - groups)).float().contiguous()
