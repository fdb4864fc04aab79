"""Fills the page of proofs with definitions in Python and Rocq, read from their source files."""

import ast
import re
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parents[1]
PYTHON = re.compile(r"^\{\{ (\S+\.py): (\w+) \}\}$", re.MULTILINE)
ROCQ = re.compile(r"^\{\{ (\w+) \}\}$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with its placeholders replaced by definitions."""
    if page.file.src_uri != "proofs.md":
        return markdown
    with_python = PYTHON.sub(lambda found: _python(*found.groups()), markdown)
    return ROCQ.sub(lambda found: _rocq(found[1]), with_python)


def _python(file: str, name: str) -> str:
    source = (HOUSE / file).read_text(encoding="utf-8")
    [function] = [each for each in ast.parse(source).body if getattr(each, "name", "") == name]
    return f"```python\n{ast.get_source_segment(source, function)}\n```"


def _rocq(name: str) -> str:
    folder = HOUSE / "proofs_check" / "rocq"
    source = "".join((folder / file).read_text(encoding="utf-8") for file in ("Programs.v", "Rules.v"))
    [definition] = re.findall(rf"^(?:Fixpoint|Definition) {name}\b.*?\.$", source, re.MULTILINE | re.DOTALL)
    return f"```coq\n{definition}\n```"
