"""The results folder: a manifest, and shards that are there whole or not at all."""

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from filelock import FileLock, Timeout

from draftproof.simulators.files import text_of, unusable
from draftproof.simulators.sweep.shard import Part
from draftproof.theory.errors import BadInput

MANIFEST, SHARDS, LOCK, DESK = "manifest.json", "shards", "lock", ".desk-"


@dataclass(frozen=True)
class Store:
    """A folder that this sweep alone writes to, its processes on this machine among them.

    What is not finished lies in `desk`, which no other sweep has. Without its desk nothing can be kept,
    so a process that outlives its sweep cannot write among the results of the next.
    """

    folder: Path
    desk: Path

    def finished(self) -> set[str]:
        """The names of the chunks that are kept."""
        return {path.stem for path in (self.folder / SHARDS).glob("*.parquet")}

    def write(self, name: str, shard: Iterable[Part]) -> Path:
        """A chunk's shard on the desk, from any process; BadInput when the disk refuses."""
        part = self.desk / f"{name}.{os.getpid()}"
        with _refused(self.folder / SHARDS), part.open("wb") as out:
            out.writelines(shard)
        return part

    def keep(self, name: str, part: Path) -> str:
        """Keeps what was written; the name again. BadInput when the disk refuses; all else is still there."""
        _moved(part, self.folder / SHARDS / f"{name}.parquet")
        return name

    def close(self) -> None:
        """Ends all keeping, also by processes that still run."""
        _cleared(self.desk)


@contextmanager
def opened(folder: Path, manifest: dict[str, Any]) -> Iterator[Store]:
    """The folder, made or gone on with, locked for as long as it is open.

    Raises BadInput when another sweep is writing there, when it holds results of something else, and
    when it cannot be written. The lock is the operating system's, so it dies with its process.
    """
    with _refused(folder):
        there = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
        if MANIFEST not in there and there - {LOCK, SHARDS}:
            raise BadInput(f"{folder}: is not empty and holds no results of a sweep")
        (folder / SHARDS).mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    with _refused(folder):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BadInput(f"{folder}: another sweep is writing there") from None
    try:
        with _refused(folder):
            for left in list((folder / SHARDS).glob(f"{DESK}*")):
                _cleared(left)
            store = Store(folder.absolute(), Path(mkdtemp(prefix=DESK, dir=folder.absolute() / SHARDS)))
        try:
            _same(store, manifest)
            yield store
        finally:
            store.close()
            with suppress(OSError):
                _settled(folder / SHARDS)
    finally:
        lock.release()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder; BadInput when there is none."""
    path = folder / MANIFEST
    try:
        return json.loads(text_of(path))
    except json.JSONDecodeError:
        raise BadInput(f"{path}: not JSON") from None


def _same(store: Store, manifest: dict[str, Any]) -> None:
    folder = store.folder
    if not (folder / MANIFEST).exists() or not store.finished():
        part = store.write(MANIFEST, [json.dumps(manifest, indent=1).encode() + b"\n"])
        _moved(part, folder / MANIFEST)
        return
    there = read_manifest(folder)
    for key in manifest:
        if there.get(key) != manifest[key]:
            raise BadInput(
                f"{folder}: holds results of {_difference(key, there.get(key), manifest[key])}; "
                "name another folder with --results"
            )


def _difference(key: str, there: Any, now: Any) -> str:
    if key == "versions" and isinstance(there, dict):
        name = next(name for name in now if there.get(name) != now[name])
        return f"{name} {there.get(name)}, this is {now[name]}"
    if key in ("configuration", "digest", "metrics", "chunks"):
        return "another configuration"
    return f"{'results format' if key == 'format' else key} {there}, this is {now}"


def _moved(part: Path, place: Path) -> None:
    # Flushed, then renamed: a reader never meets a part of it.
    with _refused(place.parent):
        with part.open("rb") as there:
            os.fsync(there.fileno())
        part.replace(place)


def _cleared(desk: Path) -> None:
    # Under another name first, so that nobody finds it any more.
    if desk.exists():
        rmtree(desk.rename(desk.with_suffix(".cleared")))


def _settled(folder: Path) -> None:
    # Renames reach the disk; where the power fails before, a few chunks are computed again.
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BadInput(f"{folder}: the disk is full; what was finished is kept") from None
        raise unusable(folder, error) from None
