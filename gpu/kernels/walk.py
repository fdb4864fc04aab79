"""Verifies deterministic drafts by the target's probabilities alone, without a second pass."""

# pyright: reportOperatorIssue=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import PP, family, law, next_child, nodes_of, row_of, scales, share, tree_of
from draftproof.gpu.kernels.sweep import chunk_of, drop


@triton.jit
def walk(logits, chunks, tree, nodes, counts, block):
    """One program per request. A child x is entered with probability p(x) / (1 - mass of earlier siblings'
    tokens). A token that an earlier sibling has counts as p = 0.
    """
    N, V = counts.N, counts.V
    b = tl.program_id(0).to(tl.int64)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
    index = tl.arange(0, block.NODES)
    scale, _ = scales(logits.temperature + 2 * b)

    f = tl.full([], 0, tl.int32)
    rest = tl.full([], 1.0, tl.float32)
    v = next_child(f, 0, parent_of, token_of, block.NODES)
    while v < block.NODES:
        p = tl.load(nodes.numbers + PP * N + v)
        earlier = (parent_of == f) & (index < v) & (token_of >= 0)
        again = tl.max((earlier & (token_of == tl.load(nodes.ids + v))).to(tl.int32), axis=0) > 0
        p = tl.where(again, 0.0, p)
        if tl.load(nodes.coins + v) < share(p, rest):
            f = v
            rest = tl.full([], 1.0, tl.float32)
            v = next_child(f, 0, parent_of, token_of, block.NODES)
        else:
            row, norm = row_of(logits, chunks.normaliser, b, f, counts)
            dropped = law(row, chunk_of(nodes.ids, v, block), scale, norm, V, logits.limits, b * N + f)
            masses = chunks.sums + (b * N + f) * block.C
            rest = drop(dropped, masses, f, v, parent_of, token_of, nodes.ids, block)
            v = next_child(f, v, parent_of, token_of, block.NODES)
    tl.store(nodes.stop, tl.load(tree.turn + f).to(tl.int32))
