"""The page: templates, scripts and data in one file that loads nothing from a network."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

PARTS = files("draftproof.simulators.study.report") / "page"

SCRIPTS = ("html", "sections", "main")
"""The JavaScript modules, each after those that it imports."""

SECTIONS = {
    "verdicts": ("Verdicts", "Each verifier over all instances, by exact enumeration."),
    "gaps": (
        "Gaps",
        "The share each verifier reaches of the best possible E[tau], the mean number of accepted tokens.",
    ),
    "worst": ("Worst instances", "Open an instance to see its file; every command of draftproof reads it."),
}
"""Section -> (title, introduction), in the page's order; a section without rows is left out."""


def page(title: str, summary: str, origin: Sequence[str], data: Mapping[str, Any]) -> str:
    """The HTML document with `data`, which is by section."""
    shown = [key for key in SECTIONS if data.get(key)]
    data = {key: data[key] for key in shown}
    return Template(_read("page.html")).substitute(
        title=html.escape(title),
        summary=html.escape(summary),
        style=_read("style.css"),
        links="".join(f'<li><a href="#{key}">{html.escape(SECTIONS[key][0])}</a></li>' for key in shown),
        sections="\n".join(map(_section, shown)),
        origin="<br>".join(map(html.escape, origin)),
        data=json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        script=script(),
    )


def script() -> str:
    """The modules joined into one script; each comes after those that it imports."""
    joined = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return re.sub(r"^(import .*;\n|export )", "", joined, flags=re.MULTILINE)


def _section(key: str) -> str:
    title, introduction = SECTIONS[key]
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{html.escape(title)}</h2>'
        f'<p>{html.escape(introduction)}</p><div class="body"></div></section>'
    )


def _read(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")
