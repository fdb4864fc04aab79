"""Shared by the kernels: the numbers kept for each node (`state`), and decisions without a second pass.

Pointers have the names and shapes of `opening`. `parent_of` and `ids` hold, for all nodes at once, the parent
id and the drawn token, or -1 if there is none.

A node with one child is accepted with the rate S / (S + 1 - a), S = sum (a p - q)+. If p and q are known at
some tokens, S <= a - sum min(a p, q) and S >= sum (a p - q)+, with both sums over those tokens only. Rows are
read again only if these bounds do not decide the node's coin.
"""

# pyright: reportGeneralTypeIssues=false
# Triton declares that an operation may return nothing.
import triton
import triton.language as tl

FIELDS = tl.constexpr(6)
PP, QQ, RATE, CUT, MASS, REST = (tl.constexpr(field) for field in range(6))
"""float32 [FIELDS, N] for each request. PP, QQ: the probabilities p and q of a node's drafted token. RATE:
the rate of an entered node. After rejections of children the node's row is (p - CUT q)+ / MASS, and REST is
the mass of q without the rejected tokens."""

COINS, RATES, UNCAPPED, CELLS = (tl.constexpr(rule) for rule in range(4))
"""Rules for entering a child. COINS: if its coin is below its rate (recursive rejection). RATES: always, with
the rate min(1, a p / q) (traversal). UNCAPPED: always, with the rate a p / q (greedy block). CELLS: by sums
over classes of tokens (priority), which `plan` makes."""

LARGEST = tl.constexpr(3e38)
LOG2_E = tl.constexpr(1.4426950408889634)
OCTET = tl.constexpr(8)
"""Number of logits around a chunk's largest whose p and q bound a node's rate: 16 bytes of bfloat16."""

BELOW_ONE = tl.constexpr(1 - 2**-24)

SLACK = tl.constexpr(1e-4)
LEAST = tl.constexpr(1e-6)
"""Relative and absolute slack of the bounds on S, larger than float32 rounding."""


@triton.jit
def limited(logits, x, limits, line):
    """The logits of the ids x of a row, or -inf where a filter drops them; see `filtering.find_limits`."""
    if limits is not None:
        least = tl.load(limits + 2 * line)
        last = tl.load(limits + 2 * line + 1).to(tl.int32)
        logits = tl.where((logits < least) | ((logits == least) & (x > last)), -float("inf"), logits)
    return logits


@triton.jit
def law(row, x, scale, normaliser, V, limits=None, line=0):
    """The probabilities 2^(scale logit - normaliser) of the ids x, with one rounding of the power; 0
    beyond V.
    """
    logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
    return tl.exp2(tl.fma(limited(logits, x, limits, line), scale, -normaliser))


@triton.jit
def scales(temperature):
    """What a request's logits are multiplied by: (the target's, the proposal's)."""
    of_target = LOG2_E / tl.load(temperature)
    of_proposal = LOG2_E / tl.load(temperature + 1)
    return of_target, of_proposal


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
def next_child(f, v, parent_of, ids, NODES: tl.constexpr):
    """The first drawn child of f after node v; NODES if there is none."""
    nodes = tl.arange(0, NODES)
    return tl.min(tl.where((parent_of == f) & (nodes > v) & (ids >= 0), nodes, NODES), axis=0)


@triton.jit
def fails(coin, rate, shared):
    """Whether a node's coin fails at every possible rate: `shared` is a part of sum min(a p, q)."""
    most = tl.maximum(rate - shared, 0.0) * (1 + SLACK) + LEAST
    return (rate < 1) & (coin >= share(most, most + (1 - rate)))


@triton.jit
def succeeds(coin, rate, kept, RULE: tl.constexpr):
    """Whether a node's coin succeeds at every possible rate: `kept` is a part of sum (a p - q)+."""
    least = tl.maximum(kept * (1 - SLACK) - LEAST, 0.0)
    sure = coin < share(least, least + (1 - rate))
    if RULE == UNCAPPED:
        sure = sure | (rate >= 1)
    return sure


@triton.jit
def accept(f, rate, noise, turn, stop, RULE: tl.constexpr):
    """If node f, which has no child left to try, is accepted: lowers `stop` to its turn."""
    accepted = (f == 0) | (tl.load(noise + f) < rate)
    if RULE == COINS:
        accepted = f >= 0
    if accepted:
        tl.atomic_min(stop, tl.load(turn + f).to(tl.int32), sem="relaxed")  # orders no other memory access


@triton.jit
def attempt(f, child, rate, cut, mass, rest, last, state, noise, due, round, N, RULE: tl.constexpr):
    """The rate at which f's child is entered. Schedules its rejection for the next round if it is needed.

    The rejection is not needed if the child's coin accepts it, or if it is f's last child and f's own coin
    fails at any possible rate: S <= a - min(a p, q) at the child's token bounds f's rate.
    """
    drafted = tl.load(state + QQ * N + child)
    p = excess(tl.load(state + PP * N + child), cut, drafted) * rest
    q = drafted * mass
    if RULE == COINS:
        entered = tl.where(tl.load(noise + child) < share(p, q), 1.0, 0.0)
        matters = entered == 0
    else:
        if RULE == RATES:
            entered = share(rate * p, q)
        else:
            entered = tl.where(p > 0, tl.minimum(rate * p / q, LARGEST), 0.0)
        shared = drafted / rest * tl.minimum(entered, 1.0)
        rejected = (f > 0) & last & fails(tl.load(noise + f), rate, shared)
        matters = (rate > 0) & (rejected == 0)
    if matters:
        tl.store(due + child, round + 1)
    return entered


@triton.jit
def enter(
    v, rate, parent_of, ids, state, noise, turn, stop, due, round, N, RULE: tl.constexpr,
    NODES: tl.constexpr,
):  # fmt: skip
    """Enters node v with this rate, then its first child, then that child's first child, down to a leaf."""
    while v < NODES:
        tl.store(state + RATE * N + v, rate)
        tl.store(state + CUT * N + v, 0.0)
        tl.store(state + MASS * N + v, 1.0)
        tl.store(state + REST * N + v, 1.0)
        child = next_child(v, 0, parent_of, ids, NODES)
        entered = tl.full([], 0.0, tl.float32)
        if child < NODES:
            last = next_child(v, child, parent_of, ids, NODES) == NODES
            entered = attempt(v, child, rate, 0.0, 1.0, 1.0, last, state, noise, due, round, N, RULE)
        else:
            accept(v, rate, noise, turn, stop, RULE)
        v = tl.where(entered > 0, child, NODES)
        rate = entered


@triton.jit
def settle(
    target, proposal, temperature, limits, places, normaliser, parents, rows, turn, ids, state, noise, due,
    stop, first, parent_of, token_of, target_n, proposal_n, N, V, C: tl.constexpr, RULE: tl.constexpr,
    NODES: tl.constexpr, CHUNKS: tl.constexpr, CHUNK: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """Clears `due` for an only child if the bounds decide its parent's coin, and lowers `stop` to the turn of
    a parent that is certainly accepted. The bounds use the tokens around each chunk's largest target logit.
    All pointers are to this request's part, but limits, whose part begins with the row `first`.
    """
    scale_p, scale_q = scales(temperature)
    chunks = tl.arange(0, CHUNKS)
    for start in range(0, N, AT_ONCE):
        v = start + tl.arange(0, AT_ONCE)
        f = tl.load(parents + v, mask=(v > 0) & (v < N), other=0).to(tl.int32)
        unsure = (f > 0) & (tl.load(due + v, mask=v < N, other=0) > 0)
        siblings = (parent_of[None, :] == f[:, None]) & (token_of >= 0)[None, :]
        unsure = unsure & (tl.sum(siblings.to(tl.int32), axis=1) == 1)
        if tl.max(unsure.to(tl.int32), axis=0) > 0:
            row = tl.load(rows + f, mask=unsure, other=0).to(tl.int32)
            at = (unsure[:, None]) & (chunks < C)[None, :]
            group = tl.load(places + f[:, None] * C + chunks[None, :], mask=at, other=0)
            x = group[:, :, None] * OCTET + tl.arange(0, OCTET)[None, None, :]
            inside = at[:, :, None] & (x < V)
            norm_p = tl.load(normaliser + f, mask=unsure, other=0.0)
            norm_q = tl.load(normaliser + N + row, mask=unsure, other=0.0)
            own = target + f.to(tl.int64)[:, None, None] * target_n + x
            p_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            p_logit = limited(p_logit, x, limits, (first + f)[:, None, None])
            own = proposal + row.to(tl.int64)[:, None, None] * proposal_n + x
            q_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            rate = tl.load(state + RATE * N + f, mask=unsure, other=0.0)
            coin = tl.load(noise + f, mask=unsure, other=0.0)

            a_p = rate[:, None, None] * tl.exp2(tl.fma(p_logit, scale_p, -norm_p[:, None, None]))
            q = tl.exp2(tl.fma(q_logit, scale_q, -norm_q[:, None, None]))
            shared = tl.sum(tl.sum(tl.minimum(a_p, q), axis=2), axis=1)
            kept = tl.sum(tl.sum(tl.maximum(a_p - q, 0.0), axis=2), axis=1)
            # Add the drafted token, unless it is one of these tokens.
            drafted = tl.load(ids + v, mask=unsure, other=0)
            seen = (chunks[None, :] == (drafted // CHUNK)[:, None]) & (group == (drafted // OCTET)[:, None])
            apart = tl.max(seen.to(tl.int32), axis=1) == 0
            a_p = rate * tl.load(state + PP * N + v, mask=unsure, other=0.0)
            q = tl.load(state + QQ * N + v, mask=unsure, other=0.0)
            shared += tl.where(apart, tl.minimum(a_p, q), 0.0)
            kept += tl.where(apart, tl.maximum(a_p - q, 0.0), 0.0)

            tl.store(due + v, tl.zeros_like(v), mask=unsure & fails(coin, rate, shared))
            sure = unsure & succeeds(coin, rate, kept, RULE)
            turns = tl.load(turn + f, mask=sure, other=N).to(tl.int32)
            tl.atomic_min(stop, tl.min(turns, axis=0), sem="relaxed")
