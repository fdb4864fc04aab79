"""Reads and writes users' files: completely or not at all; every fault is one line that names the file."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from draftproof.theory.errors import BadInput, quoted

SHIPPED = Path(__file__).resolve().parents[2]
"""The clone, or the package with the examples of `docs/`."""


def unusable(path: Path, error: OSError) -> BadInput:
    """The operating system's error about a file as a BadInput of one line."""
    return BadInput(f"{path}: {(error.strerror or str(error)).lower()}")


def text_of(path: Path) -> str:
    """The text of a UTF-8 file, or of standard input if the path is `-`. A file of `docs/` that is not here
    is the one that ships. Raises BadInput if unreadable.
    """
    try:
        if path.parent == Path("docs") and not path.exists() and (SHIPPED / path).is_file():
            path = SHIPPED / path
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text file") from None
    except OSError as error:
        raise unusable(path, error) from None
    except ValueError:
        raise BadInput(f"{quoted(str(path))}: no such file") from None


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """What each line says that is not blank, after the words that name the line. Raises BadInput."""
    for number, line in enumerate(text_of(path).split("\n"), 1):
        where = f"{path}, line {number}"
        if line.strip():
            try:
                yield where, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"{where}: not JSON: {error}") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`, which replaces `path` when the block ends without an error.

    A full disk or Ctrl-C thus leaves the old file, and readers never see half of a new one. A path that is
    not a regular file, such as /dev/stdout, is written directly. Raises BadInput if it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "page")) as part:
    ...         _ = part.write_text("whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['page']
    """
    place = Path(os.path.realpath(path))  # replace the link's target, not the link
    part = None
    try:
        if place.is_file() or not place.exists():
            part = place.with_name(f".{os.getpid()}-{place.name}")
        yield part or place
        if part:
            part.replace(place)
    except OSError as error:
        raise unusable(path, error) from None
    finally:
        if part:
            with suppress(OSError):
                part.unlink()
