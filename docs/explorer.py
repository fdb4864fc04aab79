"""Adds the explorer of small instances to the site, as the page explorer.html."""

from functools import cache
from typing import Any

from mkdocs.structure.files import File, Files

from draftproof.simulators.commands.report import explored, standard
from draftproof.simulators.study.report.page import page


@cache
def explorer() -> str:
    """The page, recorded once a process."""
    return page(
        "The explorer",
        "Verifiers on small instances, step by step. `draftproof report` makes such a page of your results.",
        [],
        {},
        explored(list(standard())),
    )


def on_files(files: Files, *, config: Any) -> Files:
    """The site's files and the explorer."""
    files.append(File.generated(config, "explorer.html", content=explorer()))
    return files
