"""The verdict on a foreign verifier, and how it reads."""

import json
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from draftproof.simulators import screen
from draftproof.simulators.audit.judge.case import Case
from draftproof.simulators.audit.judge.extremes import Finding
from draftproof.simulators.audit.judge.statistical import Sampled
from draftproof.simulators.instances.files import document, spelled
from draftproof.simulators.verdict import Wrong
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import text


@dataclass(frozen=True)
class Report:
    """What was found of one target.

    `lossless` is None where nothing was decided. The figures are of `case`: the smallest instance
    found on which the target is biased, or the one with the largest rounding; where nothing could be
    enumerated, estimates of `sampled`. `findings` besides the law change the verdict only where
    their probability is above the floor of the arithmetic. `too_large` says what was left out.
    """

    target: str
    adapter: str
    lossless: bool | None
    case: Case | None = None
    instances: int = 0
    findings: tuple[Finding, ...] = ()
    sampled: Sampled | None = None
    undecided: str = ""
    too_large: str = ""
    seconds: float = 0.0

    @property
    def total_variation(self) -> fmpq | None:
        return self.case.total_variation if self.case else None

    @property
    def wrong(self) -> Wrong | None:
        return self.case.wrong if self.case else None

    @property
    def instance(self) -> Instance | None:
        return self.case.instance if self.case else None

    @property
    def status(self) -> int:
        """The exit status: 0 lossless, 1 not, 3 cannot be enumerated."""
        return 3 if self.lossless is None else int(not self.lossless)

    def answer(self) -> dict[str, Any]:
        """The JSON document: exact numbers as text, estimates from samples as numbers."""
        return {
            "target": self.target,
            "adapter": self.adapter + (", statistical" if self.sampled else ""),
            "lossless": self.lossless,
            **(_estimates(self.sampled) if self.sampled else _exact(self.case)),
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report in lines of text, the verdict first."""
        said = {True: "lossless", False: "NOT lossless", None: "not decided"}[self.lossless]
        if self.sampled and self.lossless:
            said = "no bias found, statistical"
        elif self.sampled and self.lossless is False:
            said += ", statistical"
        lines = [f"{self.target} ({self.adapter}): {said}"]
        if self.undecided:
            lines.append(f"  cannot be enumerated: {self.undecided}")
        if self.sampled:
            lines += _tested(self.sampled)
        elif self.case and (self.lossless or self.wrong):
            lines += _figures(self.case, self.instances, bool(self.lossless))
        if self.too_large:
            lines.append(f"  not enumerated: {self.too_large}")
        return lines + [f"  finding: {finding}" for finding in self.findings]


def _exact(case: Case | None) -> dict[str, Any]:
    wrong = case.wrong if case else None
    return {
        "total_variation": text(case.total_variation) if case else None,
        "error_bound": text(case.bound) if case else None,
        "expected_accepted": _text(case.expected_accepted) if case else None,
        "stateless_optimum": _text(case.optimum) if case and case.expected_accepted is not None else None,
        "witness": {"prefix": spelled(wrong.prefix), "got": text(wrong.got), "want": text(wrong.want)}
        if wrong
        else None,
    }


def _text(number: fmpq | None) -> str | None:
    return None if number is None else text(number)


def _estimates(sampled: Sampled) -> dict[str, Any]:
    outcome, share, probability = sampled.likeliest
    return {
        "total_variation": sampled.total_variation,
        "error_bound": sampled.detectable,
        "expected_accepted": sampled.expected_accepted,
        "stateless_optimum": text(sampled.optimum) if isinstance(sampled.optimum, fmpq) else sampled.optimum,
        "witness": {"prefix": spelled(outcome), "got": share, "want": probability}
        if sampled.rejected and sampled.tokens and outcome
        else None,
    }


def _tested(sampled: Sampled) -> list[str]:
    outcome, share, probability = sampled.likeliest
    accepted = f"  E[tau] about {sampled.expected_accepted:.3g}"
    if sampled.optimum is not None:
        accepted += f", valid optimum {float(sampled.optimum):.6g}"
    lines = [f"  {sampled}", accepted]
    if sampled.rejected and outcome:
        what = "tokens" if sampled.tokens else "tokens of classes"
        lines.append(
            f"  {what} {spelled(outcome)!r} came in {share:.4g} of the runs, and should in {probability:.4g}"
        )
    return lines


def _figures(case: Case, instances: int, lossless: bool) -> list[str]:
    variation, bound = float(case.total_variation), float(case.bound)
    accepted, on = _accepted(case), f"(on {case.instance.name})"
    if lossless:
        return [
            f"  largest total variation {variation:.3g} over {instances} instances, exact; "
            f"rounding alone may cause {bound:.3g}" + ("" if accepted else f" {on}"),
            *([f"  {accepted} {on}"] if accepted else []),
        ]
    out = [f"  total variation {variation:.6g}, exact; rounding alone may cause {bound:.3g}"]
    if accepted:
        out.append(f"  {accepted}")
    if case.wrong:
        out.append(f"  {_wrong(case.wrong)}")
    out.append(f"  on {json.dumps(document(case.instance))}")
    if case.total_variation < fmpq(1, 10**5):
        out.append("  if the target computes in a narrower float type, name it: dtype='float32'")
    return out


def _accepted(case: Case) -> str:
    if case.expected_accepted is None:
        return ""
    said = f"E[tau] {float(case.expected_accepted):.6g}"
    if case.optimum is not None:
        said += f", valid optimum {float(case.optimum):.6g}"
        if case.expected_accepted > case.optimum + case.bound * case.instance.draft.depth:
            said += ": more than any lossless verifier accepts"
    return said


def _wrong(wrong: Wrong) -> str:
    if len(text(wrong.got)) < 20:
        return screen.witness(wrong)
    got, want = float(wrong.got), float(wrong.want)
    prefix = spelled(wrong.prefix)
    return f"tokens {prefix!r} come out first with probability {got:.12g}, and should with {want:.12g}"
