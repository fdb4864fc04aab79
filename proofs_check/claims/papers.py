"""Which key of references.bib an arXiv number has."""

import re

from draftproof.simulators.support.files import SHIPPED

NUMBER = re.compile(r"\d{4}\.\d{4,5}")


def in_source(paper: str) -> str:
    """The words by which a claim's source names this paper: the key of an arXiv number or address, else
    the text itself.

    >>> in_source("https://arxiv.org/abs/2403.10444v2"), in_source("weng2025traversal")
    ('sun2025block', 'weng2025traversal')
    """
    if (number := NUMBER.search(paper)) is None:
        return paper
    entries = (SHIPPED / "references.bib").read_text(encoding="utf-8").split("\n@")
    cited = (entry for entry in entries if f"eprint = {{{number[0]}}}" in entry)
    return next((re.split("[{,]", entry)[1] for entry in cited), paper)
