"""The verdict on one verifier on one instance, with a witness when it is not lossless."""

from dataclasses import dataclass

from flint import fmpq

from simulators.decode import decode
from simulators.enumerate import emission
from theory.instance import Instance
from theory.law import first_difference, law_of
from theory.rows import Prefix
from theory.verifier import Verifier

ITERATIONS = 2
"""How many iterations a verifier that keeps state is tested over."""


@dataclass(frozen=True)
class Wrong:
    """The first wrong prefix: its probability as it came out, and as the target has it."""

    prefix: Prefix
    got: fmpq
    want: fmpq


@dataclass(frozen=True)
class Verdict:
    """Whether one verifier is lossless on one instance, by exact enumeration.

    `total_variation` is between the completed law of what comes out and the target's; a verifier
    that keeps state is judged on the first depth + ITERATIONS tokens of as many iterations.
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


def judge(instance: Instance, verifier: Verifier) -> Verdict:
    """The exact verdict.

    >>> from simulators.instances.scenarios import scenario
    >>> from theory.drafts.chain import Chain
    >>> from theory.verifiers import named
    >>> judge(scenario("toy", Chain(2)), named("hsd-released")).wrong
    Wrong(prefix=(1, 0), got=1/3, want=2/9)
    """
    if verifier.carry is not None:
        return _judge_decoding(instance, verifier)
    emitted = emission(instance, verifier)
    wrong = emitted.wrong_prefix()
    return Verdict(
        verifier.name,
        instance.name,
        verifier.lossless,
        emitted.total_variation,
        emitted.expected_accepted,
        Wrong(*wrong) if wrong else None,
    )


def _judge_decoding(instance: Instance, verifier: Verifier) -> Verdict:
    length = instance.draft.depth + ITERATIONS
    decoded = decode(instance, verifier, ITERATIONS)
    got, want = decoded.first(length), law_of(instance.target, length)
    wrong = first_difference(got, want)
    return Verdict(
        verifier.name,
        instance.name,
        verifier.lossless,
        got.total_variation(want),
        decode(instance, verifier, 1).accepted,
        Wrong(*wrong) if wrong else None,
    )
