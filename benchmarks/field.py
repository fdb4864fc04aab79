"""Runs the commands of docs/field.md whose project's code is there, and compares the verdicts.

    DRAFTPROOF_FIELD=clones python benchmarks/field.py [NAME ...]

Without names all rows are run; a NAME is that of a file in studies/field/, such as pearl. Ends with status 1
if a verdict is not the page's, and with 2 if no row could be run. The page's total variations are those of
its witnesses; a run may show another instance, since it shrinks a failing instance for five seconds only.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

HOUSE = Path(__file__).parents[1]
PAGE, STUDIES = HOUSE / "docs/field.md", HOUSE / "studies/field"
ROW = re.compile(
    r"^\|[^|]*\|[^|]*\| `(\w+)\.py([^`]*)` \| (lossless|not lossless|raises)(?:, ([\d./]+))?(?: \||;)", re.M
)


class Row(NamedTuple):
    """A line of the page: a file of studies/field/, the rest of its command, and the verdict."""

    name: str
    rest: str
    verdict: str
    variation: str

    @property
    def command(self) -> list[str]:
        """The command line that is run; a script if the row names no function."""
        file = f"studies/field/{self.name}.py"
        if self.rest.startswith(":"):
            function, *options = self.rest.split()
            return ["draftproof.py", "audit", file + function, *options]
        return [file, *self.rest.split()]


def verdict(status: int, text: str) -> str:
    """The page's word for a report."""
    if status == 0:
        return "lossless"
    if "NOT lossless: its law" in text or "NOT lossless, statistical" in text:
        return "not lossless"
    fails = "fails: it raises" in text or "it returns garbage" in text
    return "raises" if fails else f"status {status}"


def rows() -> Iterator[Row]:
    """The rows of the page that have a command of studies/field/."""
    for match in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        yield Row(match[1], match[2], match[3], match[4] or "")


def main(names: list[str]) -> int:
    ran, wrong = 0, 0
    for row in rows():
        if names and row.name not in names:
            continue
        start = perf_counter()
        run = subprocess.run([sys.executable, *row.command], cwd=HOUSE, capture_output=True, text=True)
        told = f"{row.name}.py{row.rest}"
        if run.returncode == 2:
            print(f"{told}: not run: {(run.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
            continue
        found, seconds = verdict(run.returncode, run.stdout), perf_counter() - start
        variation = re.search(r"total variation ([\d.e-]+)", run.stdout) if run.returncode == 1 else None
        shown = f"{found}, {variation[1]}" if variation else found
        page = ", ".join(filter(None, (row.verdict, row.variation)))
        mark = "" if found == row.verdict else "DIFFERS, "
        print(f"{told}: {shown}; {seconds:.1f} s; {mark}on the page: {page}", flush=True)
        ran, wrong = ran + 1, wrong + (found != row.verdict)
    print(f"{ran} run, {wrong} not as on the page")
    return 1 if wrong else 0 if ran else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
