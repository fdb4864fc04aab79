"""How many lines of glue an audit of public code takes: the files of studies/field, now or at a commit.

    python -m benchmarks.glue [COMMIT]

Counted are lines of code, without blank lines, comments, docstrings and imports, of each file that
docs/field.md or docs/audit.md names: those that drive a whole loop (`--loop` in the command) and those that
call a verifier.
What the files share (clones.py, engines.py) is left out, and so is by_hand.py, which audits nothing. Then the
lines are counted by what they are for, from the statement of the file that they belong to.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

HOUSE = Path(__file__).parents[1]
FIELD = "studies/field"
PAGES = "docs/field.md", "docs/audit.md"
NO_GLUE = {"by_hand.py"}

GIVEN = {"target_probs", "target_logits", "target", "draft_probs"}
"""First parameters of the functions that the audit calls."""


def text_of(path: str, commit: str) -> str:
    """A file's text in the clone, or at a commit."""
    if not commit:
        return (HOUSE / path).read_text(encoding="utf-8")
    show = ["git", "-C", str(HOUSE), "show", f"{commit}:{path}"]
    return subprocess.run(show, capture_output=True, text=True, check=True).stdout


def lines_of_code(text: str) -> int:
    """Lines that hold code other than imports."""
    return sum(1 for _ in coded(text))


def coded(text: str) -> Iterator[int]:
    """The numbers of these lines."""
    left: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            left.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for number, line in enumerate(text.splitlines(), 1):
        if number not in left and line.partition("#")[0].strip():
            yield number


def kinds(text: str) -> Counter[str]:
    """What the lines of a file are for -> their number."""
    of = {}
    for node in ast.parse(text).body:
        of |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), _kind(node))
        for each in getattr(node, "decorator_list", ()):
            of[each.lineno] = _kind(node)
    return Counter(of[number] for number in coded(text))


def _kind(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        return "models, tokenizers and engines of another shape"
    if isinstance(node, ast.FunctionDef):
        first = [each.arg for each in node.args.args[:1]]
        return "functions that the audit calls" if GIVEN & {*first} else "functions that these share"
    script = isinstance(node, ast.If)
    return "scripts, for what no option of the audit gives" if script else "finding the code, its settings"


def measured(commit: str = "") -> dict[str, dict[str, int]]:
    """loop or verifier -> file -> its lines."""
    named = {
        match[1]: "--loop" in match[2]
        for page in PAGES
        for match in re.finditer(r"`(?:studies/field/)?(\w+\.py)(?::\w+)?([^`\n]*)`", text_of(page, commit))
    }
    found: dict[str, dict[str, int]] = {"verifier": {}, "loop": {}}
    for name, is_loop in sorted(named.items()):
        if name in NO_GLUE:
            continue
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
        found = sum((kinds(text_of(f"{FIELD}/{name}", "".join(sys.argv[1:]))) for name in files), Counter())
        print("\n".join(f"  {number:4} {name}" for name, number in found.most_common()))
