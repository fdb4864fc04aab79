"""What is left of a proof that ran out of time, kept in a file."""

import json
from collections.abc import Iterable
from pathlib import Path

from theory.errors import BadInput
from theory.rows import Prefix


def remembered(path: Path, statement: str) -> list[Prefix]:
    """The words already proved of a statement; none when there is no file yet.

    Raises BadInput when the file is about something else.
    """
    if not path.exists():
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["statement"] == statement:
            return [tuple(int(x) for x in word.split()) for word in kept["proved"]]
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(f"{path}: is not the progress of a proof") from None
    raise BadInput(f"{path}: is the progress of another proof")


def remember(path: Path, statement: str, proved: Iterable[Prefix]) -> None:
    """Writes the words proved so far."""
    content = {"statement": statement, "proved": [" ".join(map(str, word)) for word in proved]}
    try:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from None
