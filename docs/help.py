"""The page of commands: what each says of itself under --help, asked when the site is built."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

DOOR = Path(__file__).parents[1] / "draftproof.py"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with a section for each command."""
    if page.file.src_uri != "reference/commands.md":
        return markdown
    names = re.findall(r"^  ([a-z]+)  ", _help().split("Commands:")[1], re.MULTILINE)
    return markdown + "".join(f"\n## {name}\n\n```text\n{_help(name)}```\n" for name in names)


def _help(*command: str) -> str:
    asked = [sys.executable, str(DOOR), *command, "--help"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout
