"""report.md: the requirements on a GPU, the measurements, and whether they hold."""

from collections.abc import Mapping
from typing import Any

from benchmarks.on_gpu.required import Figure, figures
from benchmarks.on_gpu.stages import STAGES


def counts(document: Mapping[str, Any]) -> bool:
    """Whether a stage's figures come from a GPU, at the required sizes."""
    return bool(document["machine"]["gpu"]) and not document["small"]


def report(found: Mapping[str, dict[str, Any]]) -> str:
    """The page, from the stages' documents."""
    rows = [(each, found.get(each.stage)) for each in figures(found)]
    lines = ["# What is required of a GPU, and what was measured", ""]
    if not any(map(counts, found.values())):
        lines += ["**No GPU was used at the sizes that are required: no figure below is one of a GPU.**", ""]
    lines += ["| stage | required | measured | holds |", "| --- | --- | --- | --- |"]
    lines += ["| " + " | ".join(_cells(each, document)) + " |" for each, document in rows]
    lines += ["", "## What was run", "", "| stage | machine | command | exit status | seconds |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for stage, document in _ordered(found):
        where = document["machine"]["name"] + (", small" if document["small"] else "")
        for run in document["runs"]:
            command = f"{run['name']}: `{_brief(run['command'])}`"
            status = f"{run.get('why') or run['status']}{', stopped' * run['stopped']}"
            cells = stage, where, command, status, f"{run['seconds']:.1f}"
            lines.append("| " + " | ".join(map(_escaped, cells)) + " |")
    return "\n".join([*lines, "", *_machines(found)]) + "\n"


def _cells(each: Figure, document: Mapping[str, Any] | None) -> list[str]:
    if document is None or each.measured is None:
        measured, holds = "", "not measured"
    elif not counts(document):
        where = "small" if document["machine"]["gpu"] else "no GPU, small"
        measured, holds = f"({where}: {each.measured})", "not measured"
    else:
        measured, holds = each.measured, {True: "yes", False: "**NO**", None: "not settled"}[each.holds]
    return [_escaped(cell) for cell in (each.stage, each.required, measured, holds)]


def _machines(found: Mapping[str, dict[str, Any]]) -> list[str]:
    lines = []
    for stage, document in _ordered(found):
        machine = document["machine"]
        versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
        where = f"{machine['name']}; commit {machine.get('commit') or 'unknown'}"
        line = f"* {stage}, {document['when']}: {where}; {versions}"
        known = next((i for i, other in enumerate(lines) if other.endswith(f"{where}; {versions}")), None)
        if known is None:
            lines.append(line)
        else:
            lines[known] = lines[known].replace("* ", f"* {stage}, {document['when']}; ", 1)
    return lines


def _ordered(found: Mapping[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(stage, found[stage]) for stage in STAGES if stage in found]


def _brief(command: str) -> str:
    return command.partition(" -m ")[2].replace("benchmarks.on_gpu.command", "gpu") or command


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
