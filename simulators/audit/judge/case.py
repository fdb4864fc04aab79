"""The exact verdict on a foreign function on one instance."""

from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.judge.rounding import floor
from draftproof.simulators.audit.judge.rounds import emit_rounds
from draftproof.simulators.audit.judge.run import Emitted, emit
from draftproof.simulators.audit.judge.whole import emit_whole
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.simulators.audit.targets.target import Target
from draftproof.simulators.enumerate import drafts, emission
from draftproof.simulators.optimum import stateless
from draftproof.simulators.verdict import Wrong
from draftproof.theory.drafts.shape import inner
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.rows import Prefix
from draftproof.theory.verifiers import named

SMALL, TIGHT = 100, fmpq(1, 10**9)
"""Off chains: the most drafts of an instance whose optimum is computed, and how exactly."""


@dataclass(frozen=True)
class Case:
    """A target on one instance.

    `bound` is the floor of its arithmetic: total variation at or below it is rounding, above it
    is bias.
    """

    instance: Instance
    emitted: Emitted
    total_variation: fmpq
    bound: fmpq
    expected_accepted: fmpq | None  # of a whole loop it is not known
    wrong: Wrong | None

    @cached_property
    def optimum(self) -> fmpq | None:
        """The largest E[tau] of any valid verifier; None where it is not known."""
        return optimum(self.instance)

    @property
    def lossless(self) -> bool:
        return self.total_variation <= self.bound and self.emitted.lost <= self.bound


def case(target: Target | Loop, watch: Watch, instance: Instance, rounds: int = 1) -> Case:
    """The exact verdict on one instance, over one round of decoding or several."""
    several = rounds > 1 or isinstance(target, Loop) or target.draw is not None
    if isinstance(target, Loop):
        found = emit_whole(target, watch, instance, rounds)
    else:
        found = emit_rounds(target, watch, instance, rounds) if several else emit(target, watch, instance)
    length = instance.draft.depth + rounds
    got, want = found.law.complete(instance.target, length).marginal(length), law_of(instance.target, length)
    variation, bound = got.total_variation(want), _floor(target, instance, length if several else 1)
    wrong = first_wrong(got, want, bound) if variation > bound and found.lost <= bound else None
    return Case(instance, found, variation, bound, None if target.whole else found.accepted, wrong)


def _floor(target: Target | Loop, instance: Instance, rounds: int) -> fmpq:
    _, draft = next(drafts(instance))
    drafted = sum(inner(draft.root.shape))
    return floor(target.dtype, instance.vocab, drafted, rounds, target.logits, target.whole)


def first_wrong(got: Law, want: Law, bound: fmpq) -> Wrong | None:
    """The shortest prefix whose probability is off by more than rounding; else the worst word."""
    off: dict[Prefix, fmpq] = {}
    for length in range(1, max(map(len, want)) + 1):
        a, b = got.marginal(length), want.marginal(length)
        off = {prefix: abs(a[prefix] - b[prefix]) for prefix in a.keys() | b.keys()}
        for prefix in sorted(off):
            if off[prefix] > bound / 2:
                return Wrong(prefix, a[prefix], b[prefix])
    worst = max(off, key=lambda word: (off[word], word))
    return Wrong(worst, a[worst], b[worst])


def optimum(instance: Instance) -> fmpq | None:
    """On a chain the E[tau] of block verification, which no valid verifier exceeds. On other drafts a
    certified bound of it, less than TIGHT above, where there are at most SMALL of them.
    """
    if instance.draft.label == "chain":
        return emission(instance, named("block")).expected_accepted
    if instance.draft.outcomes(instance.vocab) > SMALL:
        return None
    best = stateless(instance)
    return best.upper if best.lower is not None and best.upper - best.lower < TIGHT else None
