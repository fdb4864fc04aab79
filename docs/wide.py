"""Room for the widest table: claims.md is generated, so it cannot carry the setting itself."""

from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page as it is; the wide one without the table of contents beside it."""
    if page.file.src_uri == "claims.md":
        page.meta["hide"] = ["toc"]
    return markdown
