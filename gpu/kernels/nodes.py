"""Shared by the kernels: what they are given, and decisions without a second pass over the rows.

`parent_of` and `token_of` hold, for all nodes at once, the parent id and the drawn token, or -1 if there is
none.

A node with one child is accepted with the rate S / (S + 1 - a), S = sum (a p - q)+. If p and q are known at
some tokens, S <= a - sum min(a p, q) and S >= sum (a p - q)+, with both sums over those tokens only. Rows are
read again only if these bounds do not decide the node's coin.
"""

# pyright: reportGeneralTypeIssues=false
# Triton declares that an operation may return nothing.
from typing import Any, NamedTuple

import triton
import triton.language as tl

FIELDS = tl.constexpr(6)
PP, QQ, RATE, CUT, MASS, REST = (tl.constexpr(field) for field in range(6))
"""float32 [FIELDS, N] for each request. PP, QQ: the probabilities p and q of a node's drafted token. RATE:
the rate of an entered node. After rejections of children the node's row is (p - CUT q)+ / MASS, and REST is
the mass of q without the rejected tokens."""

COINS, RATES, CELLS = (tl.constexpr(rule) for rule in range(3))
"""Rules for entering a child. COINS: if its coin is below its rate (recursive rejection). RATES: always, with
the rate min(1, a p / q) (traversal). CELLS: by sums over classes of tokens (the optimum of a node)."""


class Logits(NamedTuple):
    """The logits of a batch, and their strides."""

    target: Any  # [B, N, V]
    proposal: Any  # [B, I, V], of the same type
    temperature: Any  # [B, 2]: of the target and of the proposal
    limits: Any  # [B, N, 2] of the target's rows, or None; see `filtering.find_limits`
    target_b: Any
    target_n: Any
    proposal_b: Any
    proposal_n: Any


class Chunks(NamedTuple):
    """Statistics of the rows by chunks, and of whole rows."""

    maxima: Any  # [B, N + I, C]: the largest logit of each chunk
    sums: Any  # [B, N + I, C]: sum of exp((logit - maximum) / temperature); from `opening` on, masses
    places: Any  # [B, placed, C]: the octet of the target's row with the largest logit of each chunk
    normaliser: Any  # [B, N + I, 2]: the row's largest logit, and the probability of a token that has it


class Tree(NamedTuple):
    """Tables of the tree, [1 or B, N] each, and the stride of a request."""

    parents: Any
    rows: Any
    turn: Any
    stride: Any


class Nodes(NamedTuple):
    """What is known of the nodes of each request."""

    coins: Any  # [B, N]: below 1, rounded down; 0 for the root
    ids: Any  # [B, N]: the drawn tokens, -1 where none
    numbers: Any  # [B, FIELDS, N]
    pending_round: Any  # [B, N]: the round of sweeps that computes a child's rejection; 0: none
    finished_programs: Any  # [B, N]: programs of that sweep that have finished
    stop: Any  # [B]: the smallest turn of a node known to be accepted


class Counts(NamedTuple):
    """Nodes of the tree, rows of the proposal, and the size of the vocabulary."""

    N: Any
    I: Any
    V: Any


class Block(NamedTuple):
    """Sizes known to the compiler: chunks of a row and logits of a chunk; and the verifier's rule."""

    C: Any
    CHUNK: Any
    CHUNKS: Any  # the power of 2 from C on
    NODES: Any  # the power of 2 from N on
    RULE: Any


class Pair(NamedTuple):
    """A node's rows of target and proposal, and what makes probabilities of their logits."""

    p: Any
    q: Any
    line: Any
    norm_p: Any  # (largest logit, its probability)
    norm_q: Any
    scale_p: Any
    scale_q: Any


LARGEST = tl.constexpr(3e38)
LOG2_E = tl.constexpr(1.4426950408889634)
OCTET = tl.constexpr(8)
"""Number of logits around a chunk's largest whose p and q bound a node's rate: 16 bytes of bfloat16."""

BELOW_ONE = tl.constexpr(1 - 2**-53)

SLACK = tl.constexpr(1e-4)
LEAST = tl.constexpr(1e-6)
"""Relative and absolute slack of the bounds on S, larger than float32 rounding."""


@triton.jit
def below_one(u):
    """A uniform as float64 below 1."""
    return tl.minimum(u.to(tl.float64), tl.full([], BELOW_ONE, tl.float64))  # as a number it would be float32


@triton.jit
def rounded_down(coin):
    """The largest float32 that is at most a float64 coin: it is below the same float32 numbers."""
    near = coin.to(tl.float32)
    before = (near.to(tl.int32, bitcast=True) - 1).to(tl.float32, bitcast=True)
    return tl.where(near.to(tl.float64) > coin, before, near)


@triton.jit
def limited(logits, x, limits, line):
    """The logits of the ids x of a row, or -inf where a filter drops them; see `filtering.find_limits`."""
    if limits is not None:
        least = tl.load(limits + 2 * line)
        last = tl.load(limits + 2 * line + 1).to(tl.int32)
        logits = tl.where((logits < least) | ((logits == least) & (x > last)), -float("inf"), logits)
    return logits


@triton.jit
def law(row, x, scale, norm, V, limits=None, line=0):
    """The probabilities of the ids x; 0 beyond V."""
    logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
    return softened(limited(logits, x, limits, line), scale, norm)


@triton.jit
def softened(logits, scale, norm):
    """Probabilities of logits. They are centred first: at a low temperature a power of `scale` times a logit
    has few digits, or none.
    """
    largest, whole = norm
    return tl.exp2((logits - largest) * scale) * whole


@triton.jit
def norm_of(normaliser, line, mask=None):
    """What makes probabilities of the logits of a row, or of rows with a mask."""
    other = None if mask is None else 0.0
    at = normaliser + 2 * line
    return tl.load(at, mask=mask, other=other), tl.load(at + 1, mask=mask, other=other)


@triton.jit
def scales(temperature):
    """What a request's logits are multiplied by, to be exponents of 2: (the target's, the proposal's)."""
    return LOG2_E / tl.load(temperature), LOG2_E / tl.load(temperature + 1)


@triton.jit
def share(part, whole):
    """min(1, part / whole), but 0 if the part is 0."""
    ratio = tl.where(part < whole, part / tl.where(whole > 0, whole, 1.0), 1.0)
    return tl.where(part > 0, ratio, 0.0)


@triton.jit
def excess(p, cut, q):
    """(p - cut q)+, and p itself if cut is 0."""
    return tl.where(cut > 0, tl.maximum(p - cut * q, 0.0), p)


@triton.jit
def next_child(f, v, parent_of, token_of, NODES: tl.constexpr):
    """The first drawn child of f after node v; NODES if there is none."""
    nodes = tl.arange(0, NODES)
    return tl.min(tl.where((parent_of == f) & (nodes > v) & (token_of >= 0), nodes, NODES), axis=0)


@triton.jit
def tree_of(tree, b):
    """A request's part of the tables."""
    at = b * tree.stride
    return Tree(tree.parents + at, tree.rows + at, tree.turn + at, tree.stride)


@triton.jit
def nodes_of(nodes, b, N):
    """A request's part of what is known."""
    return Nodes(
        nodes.coins + b * N, nodes.ids + b * N, nodes.numbers + b * FIELDS * N,
        nodes.pending_round + b * N, nodes.finished_programs + b * N, nodes.stop + b,
    )  # fmt: skip


@triton.jit
def row_of(logits, normaliser, b, f, counts):
    """Request b's row of the target after node f: (where it is, its normaliser)."""
    row = logits.target + b * logits.target_b + f.to(tl.int64) * logits.target_n
    return row, norm_of(normaliser, b * (counts.N + counts.I) + f)


@triton.jit
def pair_of(logits, normaliser, b, f, row, counts):
    """The rows of request b's node f, whose row of the proposal is `row`."""
    p, norm_p = row_of(logits, normaliser, b, f, counts)
    scale_p, scale_q = scales(logits.temperature + 2 * b)
    first = b * (counts.N + counts.I)
    return Pair(
        p,
        logits.proposal + b * logits.proposal_b + row.to(tl.int64) * logits.proposal_n,
        b * counts.N + f,
        norm_p,
        norm_of(normaliser, first + counts.N + row, row < counts.I),
        scale_p,
        scale_q,
    )


@triton.jit
def target_row(pair, x, V, limits):
    """The target's probabilities of the ids x, within its limits."""
    return law(pair.p, x, pair.scale_p, pair.norm_p, V, limits, pair.line)


@triton.jit
def proposal_row(pair, x, V):
    """The proposal's probabilities of the ids x."""
    return law(pair.q, x, pair.scale_q, pair.norm_q, V)


@triton.jit
def family(tree, ids, N, NODES: tl.constexpr):
    """(parent_of, token_of) of one request."""
    nodes = tl.arange(0, NODES)
    below = (nodes > 0) & (nodes < N)
    parent_of = tl.load(tree.parents + nodes, mask=below, other=-1).to(tl.int32)
    return parent_of, tl.load(ids + nodes, mask=below, other=-1)


@triton.jit
def fails(coin, rate, shared):
    """Whether a node's coin fails at every possible rate: `shared` is a part of sum min(a p, q)."""
    most = tl.maximum(rate - shared, 0.0) * (1 + SLACK) + LEAST
    return (rate < 1) & (coin >= share(most, most + (1 - rate)))


@triton.jit
def succeeds(coin, rate, kept):
    """Whether a node's coin succeeds at every possible rate: `kept` is a part of sum (a p - q)+."""
    least = tl.maximum(kept * (1 - SLACK) - LEAST, 0.0)
    return coin < share(least, least + (1 - rate))


@triton.jit
def accept_node(f, rate, nodes, turn, RULE: tl.constexpr):
    """If node f, which has no child left to try, is accepted: lowers `stop` to its turn."""
    accepted = (f == 0) | (tl.load(nodes.coins + f) < rate)
    if RULE == COINS:
        accepted = f >= 0
    if accepted:
        tl.atomic_min(nodes.stop, tl.load(turn + f).to(tl.int32), sem="relaxed")  # orders no other access


@triton.jit
def accept_child(f, child, rate, cut, mass, rest, last, nodes, round, N, RULE: tl.constexpr):
    """The rate at which f's child is entered. Schedules its rejection for the next round if it is needed.

    The rejection is not needed if the child's coin accepts it, or if it is f's last child and f's own coin
    fails at any possible rate: S <= a - min(a p, q) at the child's token bounds f's rate.
    """
    drafted = tl.load(nodes.numbers + QQ * N + child)
    p = excess(tl.load(nodes.numbers + PP * N + child), cut, drafted) * rest
    q = drafted * mass
    if RULE == COINS:
        entered = tl.where(tl.load(nodes.coins + child) < share(p, q), 1.0, 0.0)
        matters = entered == 0
    else:
        entered = share(rate * p, q)
        rejected = (f > 0) & last & fails(tl.load(nodes.coins + f), rate, drafted / rest * entered)
        matters = (rate > 0) & (rejected == 0)
    if matters:
        tl.store(nodes.pending_round + child, round + 1)
    return entered


@triton.jit
def enter_node(v, rate, parent_of, token_of, nodes, turn, round, N, block):
    """Enters node v with this rate, then its first child, then that child's first child, down to a leaf."""
    while v < block.NODES:
        tl.store(nodes.numbers + RATE * N + v, rate)
        tl.store(nodes.numbers + CUT * N + v, 0.0)
        tl.store(nodes.numbers + MASS * N + v, 1.0)
        tl.store(nodes.numbers + REST * N + v, 1.0)
        child = next_child(v, 0, parent_of, token_of, block.NODES)
        entered = tl.full([], 0.0, tl.float32)
        if child < block.NODES:
            last = next_child(v, child, parent_of, token_of, block.NODES) == block.NODES
            entered = accept_child(v, child, rate, 0.0, 1.0, 1.0, last, nodes, round, N, block.RULE)
        else:
            accept_node(v, rate, nodes, turn, block.RULE)
        v = tl.where(entered > 0, child, block.NODES)
        rate = entered


@triton.jit
def reject_child(b, logits, chunks, tree, nodes, parent_of, token_of, counts, block, AT_ONCE: tl.constexpr):
    """Decides the coins of parents of an only child by bounds, without a second pass over their rows.

    Clears `pending_round` of the child where the parent is certainly rejected, and lowers `stop` to the turn
    of a parent that is certainly accepted. The bounds use the tokens around each chunk's largest target
    logit. `tree` and `nodes` are request b's part.
    """
    N, V = counts.N, counts.V
    target = logits.target + b * logits.target_b
    proposal = logits.proposal + b * logits.proposal_b
    places = chunks.places + b * N * block.C
    normaliser = chunks.normaliser + 2 * b * (N + counts.I)
    scale_p, scale_q = scales(logits.temperature + 2 * b)
    chunk = tl.arange(0, block.CHUNKS)
    for start in range(0, N, AT_ONCE):
        v = start + tl.arange(0, AT_ONCE)
        f = tl.load(tree.parents + v, mask=(v > 0) & (v < N), other=0).to(tl.int32)
        unsure = (f > 0) & (tl.load(nodes.pending_round + v, mask=v < N, other=0) > 0)
        siblings = (parent_of[None, :] == f[:, None]) & (token_of >= 0)[None, :]
        unsure = unsure & (tl.sum(siblings.to(tl.int32), axis=1) == 1)
        if tl.max(unsure.to(tl.int32), axis=0) > 0:
            row = tl.load(tree.rows + f, mask=unsure, other=0).to(tl.int32)
            at = (unsure[:, None]) & (chunk < block.C)[None, :]
            group = tl.load(places + f[:, None] * block.C + chunk[None, :], mask=at, other=0)
            x = group[:, :, None] * OCTET + tl.arange(0, OCTET)[None, None, :]
            inside = at[:, :, None] & (x < V)
            top_p, whole_p = norm_of(normaliser, f, unsure)
            top_q, whole_q = norm_of(normaliser, N + row, unsure)
            own = target + f.to(tl.int64)[:, None, None] * logits.target_n + x
            p_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            p_logit = limited(p_logit, x, logits.limits, (b * N + f)[:, None, None])
            own = proposal + row.to(tl.int64)[:, None, None] * logits.proposal_n + x
            q_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            rate = tl.load(nodes.numbers + RATE * N + f, mask=unsure, other=0.0)
            coin = tl.load(nodes.coins + f, mask=unsure, other=0.0)

            p = softened(p_logit, scale_p, (top_p[:, None, None], whole_p[:, None, None]))
            q = softened(q_logit, scale_q, (top_q[:, None, None], whole_q[:, None, None]))
            a_p = rate[:, None, None] * p
            shared = tl.sum(tl.sum(tl.minimum(a_p, q), axis=2), axis=1)
            kept = tl.sum(tl.sum(tl.maximum(a_p - q, 0.0), axis=2), axis=1)
            # Add the drafted token, unless it is one of these tokens.
            drafted = tl.load(nodes.ids + v, mask=unsure, other=0)
            known = group == (drafted // OCTET)[:, None]
            seen = (chunk[None, :] == (drafted // block.CHUNK)[:, None]) & known
            apart = tl.max(seen.to(tl.int32), axis=1) == 0
            a_p = rate * tl.load(nodes.numbers + PP * N + v, mask=unsure, other=0.0)
            q = tl.load(nodes.numbers + QQ * N + v, mask=unsure, other=0.0)
            shared += tl.where(apart, tl.minimum(a_p, q), 0.0)
            kept += tl.where(apart, tl.maximum(a_p - q, 0.0), 0.0)

            tl.store(nodes.pending_round + v, tl.zeros_like(v), mask=unsure & fails(coin, rate, shared))
            sure = unsure & succeeds(coin, rate, kept)
            turns = tl.load(tree.turn + f, mask=sure, other=N).to(tl.int32)
            tl.atomic_min(nodes.stop, tl.min(turns, axis=0), sem="relaxed")
