"""Certificates with an edit, for the tests of their checker."""

import json
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "proofs_check" / "certificates"


def edited(lines, edit):
    values = [json.loads(line) for line in lines.splitlines()]
    edit(values)
    return "".join(json.dumps(value) + "\n" for value in values)


def put(*path, to):
    def edit(values):
        at = values
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to(at[path[-1]]) if callable(to) else to

    return edit
