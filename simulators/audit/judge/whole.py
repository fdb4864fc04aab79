"""What a whole generation loop emits, every way its coins can fall."""

from collections.abc import Sequence
from time import monotonic

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.judge.extremes import Finding, at_the_edges
from draftproof.simulators.audit.judge.rounds import PROBES, fits
from draftproof.simulators.audit.judge.run import SECONDS, Emitted, every_run, gathered, must_repeat
from draftproof.simulators.audit.randomness.sources import Source
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix

MOST = 20_000
"""Most runs of a loop on an instance."""


def emit_whole(target: Loop, watch: Watch, instance: Instance, rounds: int) -> Emitted:
    """The law of the first depth + rounds tokens, however many rounds the loop makes of them.

    Raises TooLarge where this would take more than MOST runs.
    """
    prepared = target.prepare(instance, instance.draft.depth + rounds)

    def generate(source: Source) -> tuple[Prefix, int]:
        return target.call(watch, source, prepared), 0  # of its rounds nothing is known

    if not watch.repeats:
        must_repeat(generate)
        watch.repeats = True
    fits(generate, PROBES, MOST, instance.name)
    return gathered(every_run(generate, ONE, monotonic() + SECONDS))


def edges_of_whole(target: Loop, watch: Watch, chosen: Sequence[Instance], found: dict[str, Finding]) -> None:
    """Adds to `found` what happens when one coin of a loop, or all of them, stand at an edge."""
    least = min(instance.draft.outcomes(instance.vocab) for instance in chosen)
    for instance in chosen:
        if instance.draft.outcomes(instance.vocab) > least:
            continue
        prepared = target.prepare(instance, instance.draft.depth + 1)
        at_the_edges(target, watch, instance, prepared, f"on {instance.name}", found)
