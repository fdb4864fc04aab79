"""Files of users: read as text, written whole or not at all, every fault one line that names them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from draftproof.theory.errors import BadInput


def unusable(path: Path, error: OSError) -> BadInput:
    """What the operating system says of a file, as the line for it."""
    return BadInput(f"{path}: {(error.strerror or str(error)).lower()}")


def text_of(path: Path) -> str:
    """The text of a UTF-8 file, or of standard input if the path is `-`; BadInput where there is none."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text file") from None
    except OSError as error:
        raise unusable(path, error) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The name of a file beside `path` that takes its place once the block has ended well.

    So a full disk or Ctrl-C leaves what was there, and no reader meets half of it. What is no file,
    as /dev/stdout, is written itself. Raises BadInput where it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "page")) as part:
    ...         _ = part.write_text("whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['page']
    """
    place = Path(os.path.realpath(path))  # a link stays one
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
