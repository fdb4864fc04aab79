"""The verdict on one verifier on one instance, with a witness if it is not lossless."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from draftproof.simulators.decode import decode
from draftproof.simulators.enumerate import emission
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.rows import Prefix
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class Wrong:
    """The first wrong prefix: its probability under the verifier, and under the target."""

    prefix: Prefix
    got: fmpq
    want: fmpq


@dataclass(frozen=True)
class Verdict:
    """Whether one verifier is lossless on one instance, by exact enumeration.

    `total_variation` is between the verifier's law, completed by the target, and the target's law of the
    first depth + N tokens of N iterations. `expected_accepted` is E[tau] of the first iteration.
    """

    verifier: str
    instance: str
    declared: bool
    total_variation: fmpq
    expected_accepted: fmpq
    wrong: Wrong | None

    @property
    def lossless(self) -> bool:
        return self.wrong is None


def judge(instance: Instance, verifier: Verifier, iterations: int | None = None) -> Verdict:
    """The exact verdict, over one iteration or, for a verifier that keeps state, two.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> judge(scenario("toy", Chain(2)), named("hsd-released")).wrong
    Wrong(prefix=(1, 0), got=1/3, want=2/9)
    """
    if iterations is None:
        iterations = 1 if verifier.carry is None else 2
    if iterations > 1 or verifier.carry is not None:
        return joint(instance, verifier, iterations)[0]
    emitted = emission(instance, verifier)
    figures = emitted.total_variation, emitted.expected_accepted
    wrong = Wrong(*found) if (found := emitted.wrong_prefix()) else None
    return Verdict(verifier.name, instance.name, verifier.lossless, *figures, wrong)


def joint(
    instance: Instance,
    verifier: Verifier,
    iterations: int,
    progress: Callable[[float], object] = lambda done: None,
) -> tuple[Verdict, Law]:
    """The verdict over N iterations, and the law of the first depth + N tokens; progress(iterations done)."""
    length = instance.draft.depth + iterations
    decoded = decode(instance, verifier, iterations, length, progress)
    got, want = decoded.first(length), law_of(instance.target, length)
    figures = got.total_variation(want), decoded.accepted[0]
    wrong = Wrong(*found) if (found := first_difference(got, want)) else None
    return Verdict(verifier.name, instance.name, verifier.lossless, *figures, wrong), got
