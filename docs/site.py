"""What the site needs: the package laid out for mkdocstrings, and room for the widest table."""

import subprocess
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[1] / ".ci" / "package"
WIDE = "claims.md"  # generated, so it cannot carry the setting itself


def on_startup(**_: Any) -> None:
    """Makes `build/package/draftproof`; in `on_config` the search paths are expanded already."""
    subprocess.run([SCRIPT], check=True)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page as it is; a wide one without the table of contents beside it."""
    if page.file.src_uri == WIDE:
        page.meta["hide"] = ["toc"]
    return markdown
