"""The kill table: every mutant with the bias it was caught by, every control with none.

Run as `python -m tests.quality.table` to print it, with `--write` to renew docs/mutants.md and the data
that `draftproof report` shows.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from draftproof.simulators import audit
from draftproof.simulators.audit.battery import steep
from draftproof.simulators.audit.targets import Function
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.verdict import judge
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from tests.quality import controls, edits, functions, objects, rules
from tests.quality.registry import SPECIMENS, Specimen

HOUSE = Path(__file__).parents[2]
PAGE = HOUSE / "docs" / "mutants.md"
DATA = HOUSE / "simulators" / "report" / "mutants.json"
SOURCES = (edits, rules, controls, functions, objects)
"""The modules that register specimens when they are imported."""

ORDERED = sorted(SPECIMENS, key=lambda each: (int(each.row or len(SPECIMENS)), each.name))
"""By their row of the list of bugs, those that have none last, then by name."""


@dataclass(frozen=True)
class Found:
    """How a specimen was found: "biased", "finding", "lossless"; by what, and on what."""

    specimen: Specimen
    verdict: str
    evidence: str
    instance: str

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.specimen.expected


@cache
def examined(specimen: Specimen) -> Found:
    """The verdict on one specimen, on the first instance on which it fails."""
    if specimen.verifier is not None:
        return _judged(specimen)
    assert specimen.verify is not None
    options = dict(specimen.options)
    target = Function(specimen.verify, name=specimen.name, dtype=options.pop("dtype", None))
    report = audit.examine(target, smallest=False, **options)
    if not report.lossless:
        assert report.case is not None, report
        name = report.case.instance.name
        return Found(specimen, "biased", f"{float(report.case.total_variation):.12g}", name)
    if report.findings:
        first = report.findings[0]
        return Found(specimen, "finding", first.kind, first.where)
    assert report.case is not None
    return Found(
        specimen, "lossless", f"{float(report.case.total_variation):.1e}", f"{report.instances} instances"
    )


def _judged(specimen: Specimen) -> Found:
    assert specimen.verifier is not None
    count, raised = 0, None
    for draft in specimen.drafts:
        for instance in _instances(draft):
            count += 1
            try:
                verdict = judge(instance, specimen.verifier)
            except Exception as error:  # a mutant may break anywhere; a bias elsewhere says more
                raised = raised or Found(specimen, "biased", f"raises {type(error).__name__}", instance.name)
                continue
            if not verdict.lossless:
                return Found(specimen, "biased", str(verdict.total_variation), instance.name)
    return raised or Found(specimen, "lossless", "0", f"{count} instances")


@cache
def _instances(draft: Scheme) -> Sequence[Instance]:
    named = [scenario(name, draft, 3) for name in SCENARIOS]
    telling = [steep(3, draft.depth)] if draft.label == "chain" else []
    return [*named, *telling, *Randoms(draft, 3, 6)]


def page() -> str:
    """docs/mutants.md."""
    found = [examined(specimen) for specimen in ORDERED]
    mutants = [each for each in found if each.specimen.expected != "lossless"]
    passed = [each for each in found if each.specimen.expected == "lossless"]
    kept = sum(each.as_expected for each in passed)
    killed = sum(each.as_expected for each in mutants)
    lines = [
        "# Mutants and controls",
        "",
        "Made by `python -m tests.quality.table --write`; a test compares this page with what the command",
        "prints. `row` is the row of the list of bugs that real verifiers had: as rules of the project's own",
        "kind, judged by enumeration (`tests/quality/edits.py`, `rules.py`) and refuted once more by proof",
        "(`tests/proofs_check/test_bugs.py`), and as foreign functions in the form in which they were met,",
        "audited (`functions.py`, `objects.py`). The total variation is exact: a fraction where the numbers",
        "are rational, else the decimal of the dyadic number that floats give.",
        "",
        f"{killed} of {len(mutants)} mutants caught; {kept} of {len(passed)} controls pass.",
        "",
        "| row | mutant | flaw | caught by total variation, or finding | on |",
        "| --- | --- | --- | --- | --- |",
        *(_line(each) for each in mutants),
        "",
        "## Controls",
        "",
        "| control | what | largest total variation | over |",
        "| --- | --- | --- | --- |",
        *(_control(each) for each in passed),
        "",
    ]
    return "\n".join(lines)


def data() -> str:
    """simulators/report/mutants.json: a specimen a line."""
    rows = [
        json.dumps(
            {
                "row": found.specimen.row,
                "name": found.specimen.name,
                "flaw": found.specimen.flaw,
                "verdict": _verdict(found),
                "evidence": found.evidence,
                "instance": found.instance,
            }
        )
        for found in map(examined, ORDERED)
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _verdict(found: Found) -> str:
    if not found.as_expected:
        return f"NOT FOUND as {found.specimen.expected}"
    return "control passes" if found.specimen.expected == "lossless" else f"caught: {found.verdict}"


def _line(found: Found) -> str:
    one = found.specimen
    caught = found.evidence if found.as_expected else f"**NOT CAUGHT as {one.expected}: {found.evidence}**"
    return f"| {one.row} | {_safe(one.name)} | {one.flaw} | {caught} | {found.instance} |"


def _control(found: Found) -> str:
    one = found.specimen
    return f"| {_safe(one.name)} | {one.flaw} | {found.evidence} | {found.instance} |"


def _safe(name: str) -> str:
    return f"`{name}`" if any(sign in name for sign in "[(->*") else name


if __name__ == "__main__":
    made = page()
    if "--write" in sys.argv:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(made, encoding="utf-8")
        DATA.write_text(data(), encoding="utf-8")
    print(made)
