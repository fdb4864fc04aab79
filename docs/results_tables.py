"""Makes pages' tables from `benchmarks/results/*.json`: `python docs/results_tables.py --write` updates them.

A result has `subject`, `title`, `date`, `machine`, `commit` and `command`, and what was measured: `tables`
(`columns` and `rows`, with a `caption`), `values` (a name and a number, a range or a text each) and `notes`.
The page of measurements has the `summary` of every result with a subject. On other pages the comment
`<!-- table: NAME.json N -->` stands above the N-th table of a result.
"""

import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parents[1]
RESULTS = HOUSE / "benchmarks" / "results"
PAGE = "measurements.md"
SUBJECTS = (
    "Exact engine",
    "Optima and gaps",
    "Proofs",
    "Audit",
    "Sweeps and report",
    "Batched verifiers and kernels",
    "Real models on a CPU",
    "Suites and systems",
)
TABLE = re.compile(r"(<!-- table: (\S+) (\d+) -->\n)(?:\|.*\n)*")
HEAD = """\
# Measurements

One paragraph for each measurement; the file named after the title, in
[benchmarks/results](../benchmarks/results), has all its figures, the machine and its load. A command is
quoted as of its commit. Machine A is a 2-core x86-64 virtual machine with 24 GiB. Seconds are processor
seconds unless they are called wall time or of the clock. No GPU was used.

This page is made by `python docs/results_tables.py --write`.
"""


def result(name: str) -> dict[str, Any]:
    """One result; decimals keep their digits as written."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"), parse_float=Decimal)


def text(value: Any) -> str:
    """A value as a page shows it.

    >>> text(12345), text(Decimal("1.50")), text([65, 170]), text(None)
    ('12,345', '1.50', '65 to 170', '')
    """
    if value is None:
        return ""
    if isinstance(value, list):
        return " to ".join(map(text, value))
    if isinstance(value, str) and value.startswith("[["):  # a shape, which Markdown takes for boxes
        return f"`{value}`"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def table(columns: list[str], rows: list[list[Any]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(text, line))} |\n" for line in lines)


def section(name: str, found: dict[str, Any]) -> str:
    """A result on the page of measurements."""
    command = found["command"] and f"`{found['command']}`"
    commit = found["commit"] and f"commit {found['commit']}"
    where = (f"`{name}`", command, found["date"], commit)
    parts = [f"### {found['title']}\n", " · ".join(filter(None, where)) + "\n", found["summary"] + "\n"]
    return "\n".join(parts)


def measurements() -> str:
    """The page of measurements."""
    results = {path.name: result(path.name) for path in sorted(RESULTS.glob("*.json"))}
    parts = [HEAD]
    for subject in SUBJECTS:
        parts.append(f"## {subject}\n")
        parts += [section(name, each) for name, each in results.items() if each["subject"] == subject]
    return "\n".join(parts)


def filled(page: str) -> str:
    """The page with its tables regenerated."""

    def made(marker: re.Match[str]) -> str:
        found = result(marker[2])["tables"][int(marker[3]) - 1]
        return marker[1] + table(found["columns"], found["rows"])

    return TABLE.sub(made, page)


def stale() -> dict[Path, str]:
    """Pages that differ from the results -> their correct content."""
    pages = {
        path: filled(path.read_text(encoding="utf-8")) for path in sorted((HOUSE / "docs").rglob("*.md"))
    }
    pages[HOUSE / "docs" / PAGE] = measurements()
    return {path: page for path, page in pages.items() if path.read_text(encoding="utf-8") != page}


if __name__ == "__main__":
    for path, page in stale().items():
        if sys.argv[1:] == ["--write"]:
            path.write_text(page, encoding="utf-8")
        else:
            print(f"stale: {path.relative_to(HOUSE)}")
