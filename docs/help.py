"""Fills the page of commands with the `--help` of each, run when the site is built."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

DRAFTPROOF = Path(__file__).parents[1] / "draftproof.py"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with a section for each command."""
    if page.file.src_uri != "reference/commands.md":
        return markdown
    names = re.findall(r"^  ([a-z]+)  ", _help().split("Commands:")[1], re.MULTILINE)
    return markdown + "".join(f"\n## {name}\n\n```text\n{_help(name)}```\n" for name in names)


def _help(*command: str) -> str:
    run = [sys.executable, str(DRAFTPROOF), *command, "--help"]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout
