"""Searches for the instance on which a verifier is furthest below the stateless optimum."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from time import monotonic

from flint import fmpq

from draftproof.simulators.instances.suite import of_depth
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.laws.optimum import stateless
from draftproof.simulators.laws.witness import shrink
from draftproof.simulators.study.gap import expected
from draftproof.simulators.support.make import Key, assembled, prefixes, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.values import chains
from draftproof.theory.verifier import Verifier

BOUND = 8  # the largest whole-number weight of a row
ROUNDING = 1e-8
"""Gaps up to this size count as zero: they may be the distance between the certified bounds."""

_, TREE, REPLACED, PATHS, *OTHERS = of_depth(2)
DRAFTS: tuple[Scheme, ...] = (TREE, PATHS, REPLACED, *OTHERS, Chain(3))
"""Default drafts of the search: the first that the verifier is made for."""

Rows = dict[Key, list[int]]
"""Whole-number weights of every row."""


@dataclass
class Worst:
    """The best found so far: an instance, a lower bound of its gap, and the number of instances tried."""

    instance: Instance | None = None
    gap: fmpq = ZERO
    tried: int = 0
    interrupted: bool = False


def missing(instance: Instance, verifier: Verifier) -> fmpq:
    """A certified lower bound of (stateless optimum - E[tau]); negative if E[tau] exceeds the optimum."""
    # On chains the optimum is block verification's E[tau], in closed form.
    best = chains.block(instance) if instance.draft.kind == "chain" else stateless(instance).lower
    return best - expected(instance, verifier)


def search(
    verifier: Verifier,
    draft: Scheme,
    vocab: int,
    seconds: float,
    seed: int = 0,
    progress: Callable[[Worst], object] = lambda found: None,
) -> Worst:
    """Random starts and hill climbing over rows of small whole-number weights, then shrinking.

    Half of the starts are context-free, which have fewer weights to set. The climb restarts after 60 steps
    without a gain. `progress` is called with each new best. A KeyboardInterrupt ends the search and returns
    the best so far. Raises BadInput if the verifier is not made for the draft.
    """
    start = monotonic()
    found, rng = Worst(), Random(seed)

    def gap_of(rows: Rows) -> fmpq:
        exact = {key: weighted(weights) for key, weights in rows.items()}
        instance = assembled(exact, vocab, draft, "found")
        gap = missing(instance, verifier)
        found.tried += 1
        if found.instance is None or gap > found.gap:
            found.instance, found.gap = instance, gap
            progress(found)
        return gap

    must_fit(verifier, [draft])
    try:
        while not found.tried or monotonic() < start + seconds * 0.8:
            rows = drawn(rng, draft, vocab, context_free=rng.random() < 0.5)
            here, idle = gap_of(rows), 0
            while idle < 60 and monotonic() < start + seconds * 0.8:
                moved = moves(rng, rows)
                gap = gap_of(moved)
                idle = 0 if gap > here else idle + 1
                if gap >= here:
                    rows, here = moved, gap
        if found.instance is not None and float(found.gap) > ROUNDING:
            enough = found.gap * fmpq(98, 100)  # the gap that a smaller instance must keep
            large_enough = lambda each: each.draft == draft and missing(each, verifier) >= enough  # noqa: E731
            found.instance = shrink(found.instance, large_enough, seconds * 0.2)
            found.gap = missing(found.instance, verifier)
    except KeyboardInterrupt:
        found.interrupted = True
    return found


def drawn(rng: Random, draft: Scheme, vocab: int, context_free: bool) -> Rows:
    """Random weights of every row above the draft's depth; the target's rows at that depth do not matter."""
    above = prefixes(vocab, 0 if context_free else draft.depth - 1)
    return {(which, prefix): _weights(rng, vocab) for prefix in above for which in "pq"}


def moves(rng: Random, rows: Rows) -> Rows:
    """The rows with one row redrawn, one weight changed, or two weights exchanged."""
    key = rng.choice(list(rows))
    row = list(rows[key])
    kind, at, other = rng.random(), rng.randrange(len(row)), rng.randrange(len(row))
    if kind < 0.2:
        row = _weights(rng, len(row))
    elif kind < 0.4:
        row[at], row[other] = row[other], row[at]
    else:
        row[at] = rng.choice([0, max(0, row[at] - 1), min(BOUND, row[at] + 1), rng.randint(0, BOUND)])
    return {**rows, key: row if any(row) else _weights(rng, len(row))}


def usual(verifier: Verifier) -> Scheme:
    """The default draft of the search."""
    return next(scheme for scheme in DRAFTS if scheme.label in verifier.drafts)


def _weights(rng: Random, vocab: int) -> list[int]:
    while not any(weights := [rng.choice((0, 1, 1, rng.randint(1, BOUND))) for _ in range(vocab)]):
        pass
    return weights
