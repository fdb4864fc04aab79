"""What is left of a proof that ran out of time, kept in a file."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix

Begun = tuple[Prefix, dict[str, Any]]
"""A word, and what was worked out of it."""


def remembered(path: Path, statement: str) -> tuple[list[Prefix], Begun | None]:
    """The words already proved of a statement, and the one begun; none when there is no file yet.

    Raises BadInput when the file is about something else.
    """
    if not path.exists():
        return [], None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["statement"] == statement:
            begun = kept.get("begun")
            return list(map(_word, kept["proved"])), begun and (_word(begun["word"]), dict(begun["trees"]))
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(f"{path}: is not the progress of a proof") from None
    raise BadInput(f"{path}: is the progress of another proof")


def remember(path: Path, statement: str, proved: Iterable[Prefix], begun: Begun | None = None) -> None:
    """Writes the words proved so far, and what was worked out of the next.

    The file is replaced when all is written, so a full disk or a kill leaves the one before.
    """
    content: dict[str, Any] = {"statement": statement, "proved": list(map(_text, proved))}
    if begun is not None:
        content["begun"] = {"word": _text(begun[0]), "trees": begun[1]}
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(json.dumps(content) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _word(text: str) -> Prefix:
    return tuple(int(x) for x in text.split())


def _text(word: Prefix) -> str:
    return " ".join(map(str, word))
