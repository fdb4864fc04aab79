"""A target on one instance after another, every way its coins can fall."""

from collections.abc import Sequence

from draftproof.simulators.audit.door import Fault, Watch
from draftproof.simulators.audit.judge.case import Case, case
from draftproof.simulators.audit.judge.extremes import Finding
from draftproof.simulators.audit.judge.run import TooLarge
from draftproof.simulators.audit.judge.seen import Seen
from draftproof.simulators.audit.randomness.world import NotEnumerable
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.simulators.audit.targets.target import Target
from draftproof.simulators.witness import shrink
from draftproof.theory.instance import Instance


def enumerated(
    target: Target | Loop, watch: Watch, chosen: Sequence[Instance], seen: Seen, rounds: int, smallest: bool
) -> None:
    """Judges the instances in turn until the target fails on one, which is then made smaller.

    Drafts larger than one that took too many runs are passed over. Raises NotEnumerable where
    nothing could be enumerated, and Fault where a call hangs.
    """
    limit = None
    for n, instance in enumerate(chosen):
        work = instance.draft.outcomes(instance.vocab)
        if limit is not None and work >= limit:
            continue
        seen.observer.turns_to(instance.name, n, len(chosen))
        try:
            now = case(target, watch, instance, rounds)
        except TooLarge as error:
            limit, seen.too_large = work, str(error)
            continue
        seen.done += 1
        for kind, what in now.emitted.faults.items():
            said = f"{what}, with probability {float(now.emitted.lost):.3g}, on {instance.name}"
            seen.found.setdefault(kind, Finding(kind, said))
        if not now.lossless:
            keep = now.emitted.lost > now.bound or not smallest
            seen.failing = now if keep else _smallest(target, watch, now, rounds)
            return
        if seen.worst is None or now.total_variation > seen.worst.total_variation:
            seen.worst = now
    if not seen.done:
        raise NotEnumerable(seen.too_large)


def _smallest(target: Target | Loop, watch: Watch, failing: Case, rounds: int) -> Case:
    def fails(instance: Instance) -> bool:
        try:
            return not case(target, watch, instance, rounds).lossless
        except (NotEnumerable, Fault):
            return False

    return case(target, watch, shrink(failing.instance, fails, 1.0), rounds)
