"""The results folder, a manifest and shards that are complete or absent, and the sweep that fills it."""

import errno
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout
from pyarrow import parquet

from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.plan import Chunk, encoded, made_of, replaced
from draftproof.simulators.study.runners import Runner
from draftproof.simulators.support.files import replacing, text_of, unusable
from draftproof.theory.errors import BadInput

FORMAT = 1  # the version of the folder's own layout
MANIFEST, SHARDS, LOCK = "manifest.json", "shards", "lock"


def manifest(entries: Sequence[Entry], chunks: int) -> dict[str, Any]:
    """The manifest of a sweep: everything that could change a byte of its shards."""
    configuration = json.loads(json.dumps({"family": [entry.document() for entry in entries]}))
    # These compute the numbers and write the files.
    libraries = "numpy", "pyarrow", "python-flint", "scipy", "pot"
    return {
        "format": FORMAT,
        "draftproof": version("draftproof"),
        "commit": commit(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in libraries},
        "metrics": list(dict.fromkeys(name for entry in entries for name in entry.metrics)),
        "chunks": chunks,
        "digest": hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest(),
        "configuration": configuration,
    }


def commit() -> str | None:
    """The commit of this clone, with + if files were changed; None outside a clone."""
    clone = Path(__file__).parents[2]
    if not (clone / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(clone), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder; BadInput when there is none."""
    path = folder / MANIFEST
    try:
        return json.loads(text_of(path))
    except json.JSONDecodeError:
        raise BadInput(f"{path}: not JSON") from None


@dataclass
class Swept:
    """Numbers of chunks: in the plan, kept from an earlier run, and computed now.

    `evaluations`: how many were computed now. `changed`: the verifiers and targets whose sources have changed
    since the earlier run.
    """

    chunks: int = 0
    kept: int = 0
    computed: int = 0
    interrupted: bool = False
    evaluations: int = 0
    changed: list[str] = field(default_factory=list)

    @property
    def finished(self) -> int:
        return self.kept + self.computed


def sweep(
    chunks: Sequence[Chunk],
    manifest: dict[str, Any],
    folder: Path,
    runner: Runner,
    progress: Callable[[int, int], object] = lambda done, total: None,
    on_change: Callable[[list[str]], object] = lambda changed: None,
) -> Swept:
    """Computes the chunks that the folder lacks, and the rows of finished chunks whose sources have changed.
    A KeyboardInterrupt ends the sweep; finished chunks are kept.

    `on_change` is called with the names of the verifiers and targets that have changed, if there are any.
    `progress` is called with the number of evaluations done and the total. After BadInput finished chunks are
    kept too.
    """
    with opened(folder, manifest) as store:
        finished = store.finished()
        todo = {left.name: left for chunk in chunks if (left := store.left(chunk, finished)) is not None}
        found = Swept(len(chunks), len(chunks) - len(todo))
        changed = (name for left in todo.values() if left.name in finished for name in left.names)
        found.changed = list(dict.fromkeys(changed))
        if found.changed:
            on_change(found.changed)
        total = sum(chunk.job.evaluations for chunk in chunks)
        before = total - sum(left.job.evaluations for left in todo.values())
        progress(before, total)
        try:
            with closing(runner(list(todo.values()))) as shards:
                for name, shard in shards:
                    store.keep(name, store.completed(todo[name], shard))
                    found.computed += 1
                    found.evaluations += todo[name].job.evaluations
                    progress(before + found.evaluations, total)
        except KeyboardInterrupt:
            found.interrupted = True
            finished = store.finished()
            found.computed = sum(store.left(left, finished) is None for left in todo.values())
    return found


@dataclass(frozen=True)
class Store:
    """A results folder that only this process writes to."""

    folder: Path

    def finished(self) -> set[str]:
        """The names of the finished chunks."""
        return {path.stem for path in (self.folder / SHARDS).glob("[!.]*.parquet")}

    def left(self, chunk: Chunk, finished: Collection[str]) -> Chunk | None:
        """What is left to compute of a chunk: None if its shard was made from the same sources, else the
        chunk for the verifiers and targets that have changed.
        """
        if chunk.name not in finished:
            return chunk
        try:
            there, now = made_of(self._shard(chunk.name)), chunk.made_of
        except (pa.ArrowException, OSError):  # it is damaged
            return chunk
        if there == now:
            return None
        before = there.get("sources", {})
        if there.get("about") != now["about"] or before.keys() != chunk.sources.keys():
            return chunk
        names = tuple(name for name, source in chunk.sources.items() if before[name] != source)
        return replace(chunk, job=chunk.job.only(names), names=names)

    def completed(self, chunk: Chunk, shard: bytes) -> bytes:
        """The shard of a whole chunk, from that of what was left of it and the rows that have not changed."""
        if len(chunk.names) == len(chunk.sources):
            return shard
        old, new = (parquet.ParquetFile(each).read() for each in (self._shard(chunk.name), BytesIO(shard)))
        return encoded(replaced(old, new, chunk.names), chunk.made_of)

    def _shard(self, name: str) -> Path:
        return self.folder / SHARDS / f"{name}.parquet"

    def keep(self, name: str, shard: bytes) -> None:
        """Saves the shard of a chunk; BadInput if the disk refuses, without damage to other shards."""
        self.write(f"{SHARDS}/{name}.parquet", shard)

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the folder, flushed before it is renamed: readers never see part of it."""
        path = self.folder / name
        try:
            with replacing(path) as part, part.open("wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
        except BadInput as error:
            raise _refusal(path.parent, error.__context__) from None


@contextmanager
def opened(folder: Path, manifest: dict[str, Any]) -> Iterator[Store]:
    """The folder, created or continued, and locked while it is open.

    Raises BadInput if another sweep is writing there, if it holds results of another sweep, or if it cannot
    be written. The lock is the operating system's, so it ends with its process.
    """
    store, shards = Store(folder), folder / SHARDS
    with ExitStack() as stack:
        try:
            names = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
            if MANIFEST not in names and names - {LOCK, SHARDS}:
                raise BadInput(f"{folder}: is not empty and holds no results of a sweep")
            shards.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(folder / LOCK, timeout=0))
            for left in shards.glob(".*"):  # partial files of a killed sweep
                left.unlink()
        except Timeout:
            raise BadInput(f"{folder}: another sweep is writing there") from None
        except OSError as error:
            raise _refusal(folder, error) from None
        if store.finished() and (folder / MANIFEST).exists():
            _check_same(folder, manifest)
        store.write(MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
        yield store


def _check_same(folder: Path, manifest: dict[str, Any]) -> None:
    recorded = read_manifest(folder)
    for key, now in manifest.items():
        if key == "commit" or (there := recorded.get(key)) == now:  # shards record their sources themselves
            continue
        what = f"{'results format' if key == 'format' else key} {there}, this is {now}"
        if key == "versions" and isinstance(there, dict):
            name = next(name for name in now if there.get(name) != now[name])
            what = f"{name} {there.get(name)}, this is {now[name]}"
        elif key in ("configuration", "digest", "metrics", "chunks"):
            what = "another configuration"
        raise BadInput(f"{folder}: holds results of {what}; name another folder with --results")


def _refusal(folder: Path, error: BaseException | None) -> BadInput:
    assert isinstance(error, OSError)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return BadInput(f"{folder}: the disk is full; finished chunks are kept")
    return unusable(folder, error)
