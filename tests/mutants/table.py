"""The kill table: every mutant with the bias it was caught by, every control with none.

Run as `python -m tests.mutants.table` to print it as JSON, with `--write` to renew docs/mutants.md, which
has the mutants that repeat a fault of public code, and their data.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from draftproof.proofs_check.prove import prove
from draftproof.simulators import audit
from draftproof.simulators.audit.battery import steep
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from tests.mutants import controls, edits, functions, generated, objects, rules
from tests.mutants.bugs import BUGS
from tests.mutants.registry import CATALOGUE, Mutant

HOUSE = Path(__file__).parents[2]
PAGE = HOUSE / "docs" / "mutants.md"
DATA = Path(__file__).with_name("table.json")
SOURCES = (edits, rules, controls, functions, objects)
"""The modules that register mutants and controls when they are imported."""

ORDERED = sorted(CATALOGUE, key=lambda each: (int(each.row or len(CATALOGUE)), each.name))
"""By their number in the list of bugs, those that have none last, then by name."""
GPU_HEADING = "## Mutants of the GPU verifiers"


@dataclass(frozen=True)
class Found:
    """How a mutant was found: "biased", "finding", "lossless"; the evidence, and the instance."""

    mutant: Mutant
    verdict: str
    evidence: str
    instance: str

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.mutant.expected


@cache
def examined(mutant: Mutant) -> Found:
    """The verdict on one mutant, on the first instance on which it fails."""
    judges = {"audit": _audited, "enumeration": _enumerated, "proof": _refuted}
    return judges[mutant.judge](mutant)


def _audited(mutant: Mutant) -> Found:
    assert mutant.verify is not None
    options = dict(mutant.options)
    target = Function(mutant.verify, name=mutant.name, dtype=options.pop("dtype", None))
    report = audit.examine(target, smallest=False, **options)
    if not report.lossless:
        assert report.case is not None, report
        name = report.case.instance.name
        return Found(mutant, "biased", f"{float(report.case.total_variation):.12g}", name)
    if report.findings:
        first = report.findings[0]
        return Found(mutant, "finding", first.kind, first.where)
    assert report.case is not None
    return Found(
        mutant, "lossless", f"{float(report.case.total_variation):.1e}", f"{report.instances} instances"
    )


def _refuted(mutant: Mutant) -> Found:
    assert mutant.verifier is not None
    (draft,) = mutant.drafts
    proof = prove(mutant.verifier, draft, 2)
    if proof.counterexample is None:
        return Found(mutant, "lossless" if proof.verdict == "proved" else proof.verdict, "0", proof.scope)
    deviation = proof.why or str(judge(proof.counterexample, mutant.verifier).total_variation)
    return Found(mutant, "biased", deviation, f"a counterexample of prove, {proof.scope}")


def _enumerated(mutant: Mutant) -> Found:
    assert mutant.verifier is not None
    count, invalid = 0, None
    for draft in mutant.drafts:
        for instance in _instances(draft):
            count += 1
            verdict = judge(instance, mutant.verifier)
            if verdict.invalid:  # a bias elsewhere says more
                invalid = invalid or Found(mutant, "biased", verdict.invalid, instance.name)
            elif not verdict.lossless:
                return Found(mutant, "biased", str(verdict.total_variation), instance.name)
    return invalid or Found(mutant, "lossless", "0", f"{count} instances")


@cache
def _instances(draft: Scheme) -> Sequence[Instance]:
    named = [scenario(name, draft, 3) for name in SCENARIOS]
    telling = [steep(3, draft.depth)] if draft.label == "chain" else []
    return [*named, *telling, *Randoms(draft, 3, 6)]


def page(found: Sequence[Found]) -> str:
    """docs/mutants.md but for the mutants of the GPU verifiers."""
    mutants = [each for each in found if each.mutant.expected != "lossless"]
    passed = [each for each in found if each.mutant.expected == "lossless"]
    kept = sum(each.as_expected for each in passed)
    killed = sum(each.as_expected for each in mutants)
    lines = [
        "# Mutants and controls",
        "",
        "The project's one catalogue of wrong verifiers, `tests/mutants/`. Every mutant must be refuted",
        "and every control must pass. `python -m tests.mutants.table` prints all of them, with the instance",
        "that refutes each; with `--write` it makes this page, and a test compares them.",
        "",
        f"{killed} of {len(mutants)} mutants caught; {kept} of {len(passed)} controls pass.",
        "",
        "Single edits made from the syntax trees (`python -m tests.mutants.generated`) are counted apart:",
        generated.summary(),
        "`tests/mutants/reasons.py` says why the lossless ones are.",
        "",
        *(f"**NOT CAUGHT**: {_safe(each.mutant.name)}\n" for each in mutants if not each.as_expected),
        f"Controls: {', '.join(_control(each) for each in passed)}.",
        "",
        "## The list of bugs",
        "",
        "Faults of public code that mutants repeat, and what the first of these is caught by: a total",
        "variation, exact (a fraction, or the decimal of floats), or a finding.",
        "",
        "| row | where | what went wrong | caught by |",
        "| --- | --- | --- | --- |",
        *(f"| {row} | {where} | {what} | {_first(row, mutants)} |" for row, (where, what) in BUGS.items()),
        "",
    ]
    return "\n".join(lines)


def gpu_section() -> str:
    """The end of docs/mutants.md: mutants with judges of their own. Needs torch and Triton."""
    from tests.mutants.gpu import BATCHED, KERNELS

    lines = [
        "",
        GPU_HEADING,
        "",
        "| row | mutant | flaw | judged by |",
        "| --- | --- | --- | --- |",
        *(f"| {each.row} | {each.name} | {each.flaw} | `{each.judge}` |" for each in BATCHED),
        "",
        f"{len(KERNELS)} more edit the kernels' source: `tests/gpu/kernels/test_interleaving.py`.",
        "",
    ]
    return "\n".join(lines)


def entry(found: Found) -> dict[str, str]:
    """One line of tests/mutants/table.json."""
    return {
        "row": found.mutant.row,
        "name": found.mutant.name,
        "flaw": found.mutant.flaw,
        "verdict": _verdict(found),
        "evidence": found.evidence,
        "instance": found.instance,
    }


def data(found: Sequence[Found]) -> str:
    """tests/mutants/table.json: a mutant or control a line."""
    return "[\n" + ",\n".join(json.dumps(entry(each)) for each in found) + "\n]\n"


def recorded() -> list[Found]:
    """The verdicts that the data has, in its order. A mutant that it lacks has none."""
    mutants = {mutant.name: mutant for mutant in CATALOGUE}
    found = []
    for line in json.loads(DATA.read_text(encoding="utf-8")):
        mutant = mutants[line["name"]]
        kind = mutant.expected if line["verdict"] == "control passes" else line["verdict"].split(": ")[-1]
        found.append(Found(mutant, kind, line["evidence"], line["instance"]))
    return found


def _verdict(found: Found) -> str:
    if not found.as_expected:
        return f"NOT FOUND as {found.mutant.expected}"
    return "control passes" if found.mutant.expected == "lossless" else f"caught: {found.verdict}"


def _first(row: object, mutants: Sequence[Found]) -> str:
    # What the first mutant of a row is caught by; those of other rooms have judges of their own.
    return next((each.evidence for each in mutants if str(each.mutant.row) == str(row)), "a test of its own")


def _control(found: Found) -> str:
    one = found.mutant
    return _safe(one.name) if found.as_expected else f"**{_safe(one.name)}: NOT LOSSLESS, {found.evidence}**"


def _safe(name: str) -> str:
    return f"`{name}`" if any(sign in name for sign in "[(->*") else name


if __name__ == "__main__":
    every = [examined(mutant) for mutant in ORDERED]
    if "--write" in sys.argv:
        PAGE.write_text(page(every) + gpu_section(), encoding="utf-8")
        DATA.write_text(data(every), encoding="utf-8")
    print(data(every), end="")
