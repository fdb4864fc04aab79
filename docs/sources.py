"""Makes a page of the site for each source in references.bib that has no written one, and the list of all.

A source's page has its title and link, the claims about it with their verdicts, and the pages that cite it.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

from draftproof.proofs_check.claims import CLAIMS
from draftproof.proofs_check.claims.review import NUMBER, cited, keys_of

DOCS = Path(__file__).parent
LIST = "papers/sources.md"
ROOMS = "theory", "simulators", "proofs_check", "gpu"


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """Adds the pages, which stand in the list and not among the site's headings."""
    for key, text in pages().items():
        made = File.generated(config, f"papers/{key}.md", content=text)
        made.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(made)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The list of sources under its page's introduction."""
    return f"{markdown}\n{listed()}" if page.file.src_uri == LIST else markdown


def written(key: str) -> str:
    """The name of the page that somebody wrote about a source, or the empty text."""
    number = NUMBER.search(cited()[key]["link"])
    for path in sorted((DOCS / "papers").glob("*.md")):
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        if number and number[0] in head:
            return path.stem
    return ""


def claims_of(key: str) -> list[Any]:
    """The claims whose source is this one."""
    return [claim for claim in CLAIMS.values() if key in keys_of(claim.source)]


def pages() -> dict[str, str]:
    """Key of a source without a written page -> the text of its page."""
    return {key: page_of(key) for key in cited() if not written(key)}


def page_of(key: str) -> str:
    """The page of one source."""
    entry, about = cited()[key], claims_of(key)
    number = NUMBER.search(entry["link"])
    link = f" [{entry['link']}]({entry['link']})." if entry["link"] else ""
    lines = [f"# {entry['title']}", "", f"`{key}` in references.bib.{link}", ""]
    if about:
        lines += ["```sh", f"draftproof claims --paper {number[0] if number else key}", "```", ""]
        lines += ["statement | our verdict | claim", "--- | --- | ---"]
        for claim in about:
            note = f" *{claim.note}*" if claim.note else ""
            cells = f"{claim.statement}{note}", claim.verdict, f"`{claim.key}`"
            lines.append(" | ".join(cell.replace("|", "\\|") for cell in cells))
    else:
        lines.append("No claim about it is registered.")
    if citing := cites(key):
        lines += ["", f"Cited in: {', '.join(citing)}."]
    return "\n".join([*lines, ""])


def cites(key: str) -> list[str]:
    """Links to the pages, and names of the files of verifiers and the like, that name a source."""
    found = []
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"\b{key}\b", text):
            title = re.search(r"^# (.*)", text, re.MULTILINE)
            name = title[1].replace("[", "").replace("]", "") if title else path.stem
            found.append(f"[{name}](../{path.relative_to(DOCS).as_posix()})")
    code = (path for room in ROOMS for path in sorted((DOCS.parent / room).rglob("*.py")))
    naming = (path for path in code if re.search(rf"\b{key}\b", path.read_text(encoding="utf-8")))
    return [*found, *(f"`{path.relative_to(DOCS.parent).as_posix()}`" for path in naming)]


def listed() -> str:
    """Every source with its page and the number of its claims."""
    lines = ["source | claims", "--- | ---:"]
    for key, entry in cited().items():
        title = entry["title"].replace("|", "\\|")
        lines.append(f"[{title}]({written(key) or key}.md) | {len(claims_of(key)) or ''}")
    return "\n".join([*lines, ""])
