"""The verdict on one verifier on one instance, with a witness if it is not lossless."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.theory.emission import Emission
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO, shown, text
from draftproof.theory.rows import Prefix
from draftproof.theory.shared.reportable import Reportable, spelled
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class Wrong:
    """The first wrong prefix: its probability under the verifier, and under the target."""

    prefix: Prefix
    got: fmpq
    want: fmpq

    def __str__(self) -> str:
        start = f"tokens {spelled(self.prefix)!r} come out first" if self.prefix else "anything comes out"
        return f"{start} {instead(self.got, self.want)}"


def instead(got: fmpq, want: fmpq) -> str:
    """A wrong probability and the right one, in words."""
    return f"with probability {shown(got)}, and should with {shown(want)}"


@dataclass(frozen=True, repr=False)
class Verdict(Reportable):
    """Whether one verifier is lossless on one instance, by exact enumeration.

    `total_variation` is between the law of what the verifier emits, completed by the target, and the
    target's own, over the first depth + N tokens of N iterations. `expected_accepted` is E[tau] of the
    first iteration. `invalid` says where the verifier used a coin outside [0, 1] or a row that is no law, or
    raised an exception: then it emits no law, and the figures are 1 and 0.
    """

    verifier: str
    instance: str
    declared: bool
    total_variation: fmpq
    expected_accepted: fmpq
    wrong: Wrong | None
    invalid: str = ""

    @property
    def lossless(self) -> bool:
        return self.wrong is None and not self.invalid

    @property
    def kept(self) -> bool:
        """Whether the law that is judged is kept."""
        return self.lossless

    @property
    def more(self) -> dict[str, Any]:
        """The fields that a JSON answer on a batch, or against a declared target, has besides."""
        return {}

    def __str__(self) -> str:
        word, why = ("lossless" if self.lossless else "NOT lossless"), self.invalid or self.wrong or ""
        figures = f"total variation {shown(self.total_variation)}, E[tau] {shown(self.expected_accepted)}"
        head = f"{self.verifier} on {self.instance or 'an instance'}: {word}: {figures}"
        return f"{head}\n{why}" if why else head

    def to_dict(self) -> dict[str, Any]:
        """The row of `check --json`, and the witness: the first wrong prefix, what it gets and should get."""
        wrong = self.wrong
        return {
            "verifier": self.verifier,
            "instance": self.instance,
            "lossless": self.lossless,
            "declared": self.declared,
            "total_variation": text(self.total_variation),
            "expected_accepted": text(self.expected_accepted),
            **({"invalid": self.invalid} if self.invalid else {}),
            **self.more,
            "witness": wrong
            and {"prefix": spelled(wrong.prefix), "got": text(wrong.got), "want": text(wrong.want)},
        }

    def rows(self) -> list[dict[str, Any]]:
        made = self.to_dict()
        return [made | (made.pop("witness") or {})]


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
    return judged(instance, verifier)[0]


def judged(instance: Instance, verifier: Verifier) -> tuple[Verdict, Emission | None]:
    """The verdict over one iteration, and what is emitted; None if it is invalid."""
    try:
        emitted = emission(instance, verifier)
    except Invalid as error:
        return _invalid(instance, verifier, error), None
    slack = _rounding(instance, verifier, 1)
    wrong = Wrong(*found) if (found := emitted.wrong_prefix(slack)) else None
    figures = emitted.total_variation if wrong or slack else ZERO, emitted.expected_accepted
    return Verdict(verifier.name, instance.name, verifier.lossless, *figures, wrong), emitted


def joint(
    instance: Instance,
    verifier: Verifier,
    iterations: int,
    progress: Callable[[float], object] = lambda done: None,
) -> tuple[Verdict, Law]:
    """The verdict over N iterations, and the law of the first depth + N tokens, empty if it is invalid;
    progress(iterations done).
    """
    length = instance.draft.depth + iterations
    try:
        decoded = decode(instance, verifier, iterations, length, progress)
        got = decoded.first(length)
    except Invalid as error:
        return _invalid(instance, verifier, error), Law([])
    want = target_law(instance.target, length)
    figures = got.total_variation(want), decoded.accepted[0]
    found = first_difference(got, want, _rounding(instance, verifier, iterations))
    wrong = Wrong(*found) if found else None
    return Verdict(verifier.name, instance.name, verifier.lossless, *figures, wrong), got


target_law = lru_cache(maxsize=1)(law_of)
"""The target's own law, kept for the next verifier on the same instance."""


def _rounding(instance: Instance, verifier: Verifier, iterations: int) -> fmpq:
    return verifier.rounding(instance, iterations) if verifier.rounding else ZERO


def _invalid(instance: Instance, verifier: Verifier, error: Invalid) -> Verdict:
    return Verdict(verifier.name, instance.name, verifier.lossless, ONE, ZERO, None, str(error))
