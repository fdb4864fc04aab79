"""Replaces links to repository files by the files' names, since the site has only pages."""

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)")
DOCS = Path(__file__).parent


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with links to files outside docs shown as code; other links stay."""
    folder = (DOCS / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        path = (folder / link[2]).resolve()
        inside = path.is_relative_to(DOCS) or not path.exists()
        return link[0] if inside else f"`{path.relative_to(DOCS.parent)}`"

    return LINK.sub(named, markdown)
