"""What a foreign function emits over several rounds of decoding, with the state it keeps."""

from collections.abc import Callable
from random import Random
from time import monotonic

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.judge.run import (
    SECONDS,
    Emitted,
    TooLarge,
    every_run,
    gathered,
    run_or_fault,
)
from draftproof.simulators.audit.randomness.sources import Every, Source
from draftproof.simulators.audit.targets.target import Target
from draftproof.theory.draft import Draft, Node
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Number, Prefix, Row

MOST = 100_000
"""Most runs of an instance over several rounds."""

PROBES, FEW = 60, 6
"""Random runs from which the number of all runs is estimated, and as many of a slow target."""

SLOW = 1_000
"""Most runs of an instance over several rounds where every call is slow."""


def emit_rounds(target: Target, watch: Watch, instance: Instance, rounds: int) -> Emitted:
    """The law of the first depth + rounds tokens, from as many rounds of draft, verify, emit as it takes.

    What it keeps between calls, and coins that it uses again, is followed through all rounds. A
    target whose object has a method `draft(row, rng, position)` drafts its tokens itself. Raises
    TooLarge where this would take more than MOST runs.
    """
    length = instance.draft.depth + rounds

    def decode(source: Source) -> tuple[Prefix, int]:
        target.fresh()
        context: Prefix = ()
        accepted = None
        while len(context) < length:
            draft = _drawn(target, watch, instance, context, source)
            word = target.call(watch, source, target.prepare(instance.target, draft), len(context))
            context += word
            accepted = len(word) - 1 if accepted is None else accepted
        return context[:length], accepted or 0

    probes, limit = (FEW, SLOW) if target.slow else (PROBES, MOST)
    fits(decode, probes, limit, f"{instance.name} over {rounds} rounds")
    return gathered(every_run(decode, ONE, monotonic() + SECONDS))


def fits(program: Callable[[Source], object], probes: int, limit: int, what: str) -> None:
    """TooLarge where a program would take more runs than the limit, by an estimate from a few descents."""
    expected = _size(program, probes)
    if expected > limit:
        raise TooLarge(f"{what} would take about {expected:,.0f} runs, and the limit is {limit:,}")


def _size(program: Callable[[Source], object], probes: int) -> float:
    # Knuth's estimate of the leaves of a tree: the branches met along random descents, multiplied.
    random = Random(0)
    sizes = []
    for _ in range(probes):
        oracle = _Descent(random)
        run_or_fault(program, Every(oracle))
        sizes.append(oracle.leaves)
    return sum(sizes) / probes


class _Descent:
    def __init__(self, random: Random):
        self.random, self.leaves = random, 1

    def choose(self, row: Row) -> int:
        branches = [x for x, mass in enumerate(row) if mass > 0]
        self.leaves *= len(branches)
        return self.random.choice(branches)

    def accept(self, probability: Number) -> bool:
        return bool(self.choose((1 - probability, probability)))


def _drawn(target: Target, watch: Watch, instance: Instance, context: Prefix, source: Source) -> Draft:
    if target.draw is None:
        return instance.draft.draw(source, instance.proposal, context)
    prefix, above = context, []
    for at in range(instance.draft.depth):
        q = instance.proposal[prefix]
        token = target.draw(watch, source, tuple(map(float, q)), len(context) + at)
        above.append((prefix, q))
        prefix = (*prefix, token)
    node = Node(prefix, None)
    for prefix, q in reversed(above):
        node = Node(prefix, q, (node,))
    return Draft(node)
