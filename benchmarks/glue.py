"""How many lines of glue an audit of public code takes: the files of studies/field, now or at a commit.

    python -m benchmarks.glue [COMMIT]

Counted are lines of code, without blank lines, comments, docstrings and imports, of each file that
docs/field.md or docs/audit.md names: those that drive a whole loop (`--loop` in the command) and those that
call a verifier.
What the files share (clones.py, engines.py) is left out.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

HOUSE = Path(__file__).parents[1]
FIELD = "studies/field"
PAGES = "docs/field.md", "docs/audit.md"


def text_of(path: str, commit: str) -> str:
    """A file's text in the clone, or at a commit."""
    if not commit:
        return (HOUSE / path).read_text(encoding="utf-8")
    show = ["git", "-C", str(HOUSE), "show", f"{commit}:{path}"]
    return subprocess.run(show, capture_output=True, text=True, check=True).stdout


def lines_of_code(text: str) -> int:
    """Lines that hold code other than imports."""
    left: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            left.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(n not in left and bool(line.partition("#")[0].strip()) for n, line in lines)


def measured(commit: str = "") -> dict[str, dict[str, int]]:
    """loop or verifier -> file -> its lines."""
    named = {
        match[1]: "--loop" in match[2]
        for page in PAGES
        for match in re.finditer(r"`(?:studies/field/)?(\w+\.py)(?::\w+)?([^`\n]*)`", text_of(page, commit))
    }
    found: dict[str, dict[str, int]] = {"verifier": {}, "loop": {}}
    for name, is_loop in sorted(named.items()):
        try:
            text = text_of(f"{FIELD}/{name}", commit)
        except (FileNotFoundError, subprocess.CalledProcessError):
            continue  # another project's file
        found["loop" if is_loop else "verifier"][name] = lines_of_code(text)
    return found


if __name__ == "__main__":
    for kind, files in measured(*sys.argv[1:]).items():
        counts = sorted(files.values())
        print(f"{kind}: {len(counts)} files, median {median(counts):g}, {counts[0]} to {counts[-1]} lines")
