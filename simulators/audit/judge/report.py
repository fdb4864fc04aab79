"""The report on a foreign verifier, and its text."""

import json
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from draftproof.simulators.audit.judge.exact import Case
from draftproof.simulators.audit.judge.final_draw import LIMIT, Counted
from draftproof.simulators.audit.judge.replay import WrongRun
from draftproof.simulators.audit.judge.samples import Sampled
from draftproof.simulators.audit.targets.batches import REQUESTS
from draftproof.simulators.instances.files import document
from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.laws.verdicts.batches import JointWrong
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import text
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.reportable import Reportable, spelled

FIGURES = "total_variation", "error_bound", "expected_accepted", "stateless_optimum", "witness"
"""Keys of the JSON document, each None where it is not known."""


@dataclass(frozen=True)
class Finding:
    """One observation: its kind in a few words, and where it was seen."""

    kind: str
    where: str
    edge: bool = False  # seen only with coins at the edges
    fatal: bool = False  # it ended the audit

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


@dataclass(repr=False)
class Report(Reportable):
    """The results of one audit.

    `lossless` is None if nothing was decided. The figures belong to `case`: the smallest instance found on
    which the target is biased, or else the one with the largest total variation. If nothing could be
    enumerated, they are the estimates of `sampled`. Other `findings` change the verdict only if their
    probability exceeds the bound for rounding. `run` is one run behind a wrong law, if there is one to show.
    `sizes` are the largest vocabulary and depth of the `instances` enumerated; `too_large` says why others
    were skipped.
    """

    target: str
    adapter: str
    failing: Case | None = None
    worst: Case | None = None
    run: WrongRun | None = None
    instances: int = 0
    sizes: tuple[int, int] = (0, 0)
    found: dict[str, Finding] = field(default_factory=dict)
    sampled: Sampled | None = None
    undecided: str = ""
    skipped: int = 0  # instances that were not enumerated
    tokens: int = 0  # of a generation loop, how many of its text were judged
    too_large: str = ""
    seconds: float = 0.0
    requests: int = 0  # of a function that takes batches, among how many a request was judged
    alone: str = ""  # why it was judged in a batch of one
    together: int = 0  # batches of which two requests were judged together
    apart: str = ""  # why others were not
    final: Counted | None = None  # of a final draw, in place of all else
    strict: bool = False  # whether findings fail too
    varies: str = ""  # of a text that is to be a function of the seed, two drafts that show it is not

    @property
    def lossless(self) -> bool | None:
        fails = self.sampled is not None and (self.sampled.rejected or self.sampled.faults)
        fails = fails or (self.final is not None and self.final.total_variation + self.final.within > LIMIT)
        if fails or self.failing is not None or any(each.fatal for each in self.findings):
            return False
        return None if self.undecided else True

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self.found.values())

    @property
    def case(self) -> Case | None:
        return self.failing or self.worst

    @property
    def total_variation(self) -> fmpq | None:
        return self.case.total_variation if self.case else None

    @property
    def wrong(self) -> Any:
        """The first wrong prefix: a Wrong, of a batch a JointWrong, or None."""
        return self.case.wrong if self.case else None

    @property
    def instance(self) -> Instance | Batch | None:
        return self.case.instance if self.case else None

    @property
    def status(self) -> int:
        """The exit status: 0 lossless, 1 not, 3 cannot be enumerated."""
        if self.lossless is None:
            return 3
        return int(not self.lossless or bool(self.varies or (self.strict and self.findings)))

    @property
    def not_shown(self) -> str:
        """What the sizes of the instances cannot show of a verifier that is lossless on them."""
        return not_shown(self.sizes[1], self.sizes[0]) if self.lossless and self.instances else ""

    def add(self, instance: Instance | Batch) -> None:
        """Counts an instance that was enumerated."""
        each = instance.requests if isinstance(instance, Batch) else (instance,)
        largest = (
            max(self.sizes[0], *(one.vocab for one in each)),
            max(self.sizes[1], *(one.draft.depth for one in each)),
        )
        self.instances, self.sizes = self.instances + 1, largest

    def note(self, kind: str, where: str, key: str = "", **more: Any) -> None:
        """Adds a finding, unless there is one of that kind, or of that `key`."""
        self.found.setdefault(key or kind, Finding(kind, where, **more))

    def to_dict(self) -> dict[str, Any]:
        """The JSON document: exact numbers as strings, estimates from samples as numbers."""
        return {
            "target": self.target,
            "adapter": self.adapter + (", statistical" if self.sampled else ""),
            "lossless": self.lossless,
            **self._figures(),
            **({"varies": self.varies} if self.varies else {}),
            **({"requests": self.requests} if self.requests > 1 or self.alone else {}),
            **({"not_shown": self.not_shown} if self.not_shown else {}),
            **({"replay": self.run.answer()} if self.run else {}),
        }

    def _figures(self) -> dict[str, Any]:
        # Exact ones, estimates of random runs, or those counted of a final draw.
        case, sampled, final = self.case, self.sampled, self.final
        found: dict[str, Any] = dict.fromkeys(FIGURES)
        if sampled:
            outcome, got, want = sampled.likeliest
            found |= {"total_variation": sampled.total_variation, "error_bound": sampled.detectable}
            if sampled.rejected and outcome:
                found["witness"] = {"prefix": spelled(outcome), "got": got, "want": want}
        elif case:
            found |= {"total_variation": text(case.total_variation), "error_bound": text(case.bound)}
            if case.expected_accepted is not None:
                found["expected_accepted"] = text(case.expected_accepted)
                found["stateless_optimum"] = None if case.optimum is None else text(case.optimum)
            if wrong := case.wrong:
                at: Any = wrong.prefix  # of a batch one of each request
                at = [*map(spelled, at)] if isinstance(wrong, JointWrong) else spelled(at)
                found["witness"] = {"prefix": at, "got": text(wrong.got), "want": text(wrong.want)}
        if final:
            found |= {"total_variation": text(final.total_variation), "error_bound": text(final.within)}
            found["never_drawn"] = {"tokens": final.never, "mass": final.mass}
        return found

    def rows(self) -> list[dict[str, Any]]:
        made = self.to_dict()
        return [made | (made.pop("witness") or {})]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def failure(self) -> str:
        """Why a test fails, the reason first; empty if it passes."""
        if not (self.lossless and self.status) or self.varies:
            return str(self) * (self.status != 0)
        kinds = ", ".join(each.kind for each in self.findings)
        return f"strict: findings fail too, and {self.target} has {len(self.findings)} ({kinds})\n{self}"

    def lines(self) -> list[str]:
        """The report in lines of text, the verdict first."""
        lines = [f"{self.target} ({self.adapter}): {self._verdict()}"]
        if self.undecided:
            lines.append(f"  cannot be enumerated: {self.undecided}")
        if self.final:
            lines.append(f"  {self.final}")
        if self.sampled:
            lines.append(f"  {self.sampled}")
        elif self.case and (self.lossless or self.wrong):
            over = f"{self.instances} instances of V <= {self.sizes[0]} and depth <= {self.sizes[1]}"
            given = document(self.case.instance)
            if self.requests:  # nothing is selected
                given.pop("selection", None)
            lines += _case_lines(self.case, over, bool(self.lossless), given)
        lines += self.run.lines() if self.run else []
        lines += [f"  not a function of the seed: {self.varies}"] if self.varies else []
        if self.alone:
            lines.append(f"  judged in a batch of one request: {self.alone}")
        elif self.requests > 1:  # of a batch
            line = f"  judged among {self.requests} requests, of which the others decide nothing by chance"
            if self.together:
                line += f"; then two together, by their joint law, in {self.together} batches of {REQUESTS}"
            lines.append(line + (f"; two together were not judged: {self.apart}" if self.apart else ""))
        if self.not_shown:
            lines.append(f"  {self.not_shown}")
        if self.tokens:
            lines.append(f"  judged: the first {self.tokens} tokens of a text (--depth, --iterations)")
        if self.too_large:
            lines.append(f"  not enumerated: {self.skipped} larger instances: {self.too_large}")
        lines += [f"  finding: {finding}" for finding in self.findings if not finding.edge]
        edges = [finding for finding in self.findings if finding.edge]
        if edges:
            lines.append(
                "  findings at the edges (such a coin comes once in 2^24 tosses in float32, in 2^53 in "
                f"float64, and does not change the verdict): {' | '.join(map(str, edges))}"
            )
        return lines

    def _verdict(self) -> str:
        if self.lossless is None:
            return "not decided"
        if self.final:
            return ("" if self.lossless else "NOT ") + "lossless in its final draw"
        if self.lossless:
            kept = "lossless" + (", NOT a function of the seed" if self.varies else "")
            return "no bias found, statistical" if self.sampled else kept
        fatal = [finding.kind for finding in self.findings if finding.fatal]
        if fatal:  # an exception is no law
            return f"{'fails' if fatal[0] == 'raises' else 'NOT lossless'}: it {fatal[0]}"
        if self.sampled and not self.sampled.rejected:
            return f"fails, statistical: it {', '.join(self.sampled.faults)}"
        if self.sampled:
            return "NOT lossless, statistical: a test on random runs rejects the target's law"
        if self.wrong:
            return "NOT lossless: its law is not the target's"
        assert self.failing is not None
        kinds, mass = ", ".join(self.failing.faults), float(self.failing.fault_mass)
        verdict = "fails" if kinds == "raises" else "NOT lossless"
        return f"{verdict}: it {kinds} with probability {mass:.3g}"


def named(instance: Instance | Batch) -> str:
    """The name of an instance, or "an instance without a name"."""
    return instance.name or "an instance without a name"


def _case_lines(case: Case, instances: str, lossless: bool, given: dict[str, Any]) -> list[str]:
    variation, rounding = float(case.total_variation), f"rounding alone may cause {float(case.bound):.3g}"
    accepted, on = "", f"(on {named(case.instance)})"
    if case.expected_accepted is not None:
        accepted = f"E[tau] {float(case.expected_accepted):.6g}"
        if isinstance(case.instance, Batch):
            accepted = f"sum of {accepted}"
        elif (optimum := case.optimum) is not None:
            accepted += f", valid optimum {float(optimum):.6g}"
            if case.expected_accepted > optimum + case.bound * case.instance.draft.depth:
                accepted += ": more than any lossless verifier accepts"
    if lossless:
        line = f"  largest total variation {variation:.3g} over {instances}, exact; {rounding}"
        return [line, f"  {accepted} {on}"] if accepted else [f"{line} {on}"]
    lines = [f"  total variation {variation:.6g}, exact; {rounding}"]
    lines += [f"  {accepted}"] if accepted else []
    wrong: Any = case.wrong
    if wrong and not isinstance(wrong, JointWrong) and len(text(wrong.got)) >= 20:
        got, want = float(wrong.got), float(wrong.want)
        first = f"tokens {spelled(wrong.prefix)!r} come out first"
        wrong = f"{first} with probability {got:.12g}, and should with {want:.12g}"
    lines += [f"  {wrong}"] if wrong else []
    lines.append(f"  on {json.dumps(given)}")
    if case.bound and case.total_variation < fmpq(1, 10**5):
        lines.append("  if the target computes in a narrower float type, name it: dtype='float32'")
    return lines
