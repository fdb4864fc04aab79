"""The text that models are trained on: files, in an order that depends on their names alone."""

import hashlib
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from draftproof.theory.errors import BadInput

HELD_OUT = 0.02
"""The share of the characters, at least, that no model is trained on."""

PACKAGES = {"site-packages", "dist-packages"}


def standard_library() -> Path:
    """Where this Python keeps its own sources."""
    return Path(sysconfig.get_paths()["stdlib"])


def installed() -> list[Path]:
    """Where this Python keeps the packages that were installed."""
    return sorted({Path(sysconfig.get_paths()[name]) for name in ("purelib", "platlib")})


def names(folder: Path) -> list[str]:
    """The files of a folder in the order of a hash of their paths; of Python's own folders the sources."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    sources = {each.resolve() for each in (standard_library(), *installed())}
    paths = folder.rglob("*.py" if folder.resolve() in sources else "*")
    found = (path.relative_to(folder).as_posix() for path in paths if path.is_file())
    kept = (name for name in found if not (PACKAGES | {".git"}) & set(name.split("/")))
    return sorted(kept, key=lambda name: hashlib.sha256(name.encode()).digest())


def readable(folder: Path, files: Iterable[str]) -> Iterator[str]:
    """The texts of those files that are UTF-8 and hold any."""
    for name in files:
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text.strip() and "\0" not in text:
            yield text


def documents(folder: Path | None, megabytes: int) -> list[str]:
    """The texts of a folder, in the order of a hash of their paths, `megabytes` of them at most.

    Without a folder those of the standard library; where they are fewer characters than asked, sources
    of installed packages stand before them. Files that are not UTF-8 text are left out, and so is
    a text that is there already.
    """
    room = megabytes * 1_000_000
    own = folder or standard_library()
    texts = _filled(readable(own, names(own)), room)
    room -= sum(map(len, texts))
    if folder is None and room > 0:
        found = (text for more in installed() if more.is_dir() for text in readable(more, names(more)))
        known = set(texts)
        texts = _filled((text for text in found if text not in known), room) + texts
    if sum(map(len, texts)) < 10_000:
        raise BadInput(f"{own}: too little text to train on (10,000 characters at least)")
    return texts


def _filled(found: Iterable[str], room: int) -> list[str]:
    texts: dict[str, None] = {}
    for text in found:
        if text not in texts:
            texts[text[:room]] = None
            room -= len(text)
        if room <= 0:
            break
    return list(texts)


def kept_apart(texts: list[str]) -> tuple[list[str], list[str]]:
    """The texts to train on and, at the end, whole texts that are kept apart.

    Where the first of these would make them more than a fifth of the characters, only its end is.

    >>> kept_apart(["a" * 90, "b" * 8, "c", "d"])[1]
    ['c', 'd']
    >>> [len(text) for texts in kept_apart(["a" * 100]) for text in texts]
    [98, 2]
    """
    total = sum(map(len, texts))
    count, share = 0, 0
    while share < HELD_OUT * total:
        count += 1
        share += len(texts[-count])
    if 5 * share <= total:
        return texts[:-count], texts[-count:]
    long, cut = texts[-count], share - round(HELD_OUT * total)
    return [*texts[:-count], long[:cut]], [long[cut:], *texts[len(texts) - count + 1 :]]
