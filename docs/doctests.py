"""Docstrings on the reference pages: examples as code, which plain Markdown takes for quotations."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts a fence around each run of lines that begins with a prompt."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
