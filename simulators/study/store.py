"""The results folder, a manifest and shards that are complete or absent, and the sweep that fills it."""

import errno
import hashlib
import json
import os
import platform
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout
from pyarrow import parquet

from draftproof.simulators import screen
from draftproof.simulators.instances.own_draft import OwnDraft
from draftproof.simulators.study.configuration import Entry, Text
from draftproof.simulators.study.plan import Slice, computed
from draftproof.simulators.support.files import replacing, text_of, unusable
from draftproof.simulators.support.load import digest, version
from draftproof.simulators.support.pool import clustered, shared
from draftproof.theory.errors import BadInput

FORMAT = 1  # the version of the folder's own layout
MANIFEST, SHARDS, LOCK = "manifest.json", "shards", "lock"
ROOMS = "theory", "simulators", "proofs_check"
LIBRARIES = "numpy", "pyarrow", "python-flint", "scipy", "pot"  # they compute the numbers and write the files


def manifest(entries: Sequence[Entry], chunks: int) -> dict[str, Any]:
    """The manifest of a sweep: everything that could change a byte of its shards."""
    configuration = json.loads(json.dumps({"family": [entry.document() for entry in entries]}))
    libraries = {name: metadata.version(name) for name in LIBRARIES}
    return {
        "format": FORMAT,
        "draftproof": metadata.version("draftproof"),
        "sources": sources(entries),
        "versions": {"python": platform.python_version(), **libraries},
        "metrics": list(dict.fromkeys(name for entry in entries for name in entry.metrics)),
        "chunks": chunks,
        "digest": hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest(),
        "configuration": configuration,
    }


def sources(entries: Sequence[Entry]) -> dict[str, str]:
    """What decides the rows -> a hash of its files: this project, each verifier or draft of the user's (with
    what it imports, but for installed packages), and each text.
    """
    project = Path(__file__).parents[2]
    found = {"draftproof": digest(file for room in ROOMS for file in (project / room).rglob("*.py"))}
    for entry in entries:
        found |= {name: version(name) for name in entry.verifiers if ":" in name}
        found |= {draft.spelling: draft.version for draft in entry.drafts if isinstance(draft, OwnDraft)}
        found |= {rows.file: digest([Path(rows.file)]) for rows in entry.rows if isinstance(rows, Text)}
    return found


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder; BadInput when there is none."""
    path = folder / MANIFEST
    try:
        return json.loads(text_of(path))
    except json.JSONDecodeError:
        raise BadInput(f"{path}: not JSON") from None


@dataclass
class Swept:
    """Numbers of chunks in the plan, kept from before and computed now, and of evaluations computed now."""

    chunks: int = 0
    kept: int = 0
    computed: int = 0
    interrupted: bool = False
    evaluations: int = 0


def sweep(
    entries: Sequence[Entry],
    chunks: dict[str, Slice],
    folder: Path,
    workers: int | str = 1,
    shown: bool | None = False,
) -> Swept:
    """Computes the chunks of the plan that the folder lacks, in processes of this machine or on the Dask
    cluster of an address. A KeyboardInterrupt ends the sweep; then and after BadInput finished chunks are
    kept. A chunk whose process is lost is computed again. `shown`: whether progress is, by default on a
    terminal.
    """
    progress = screen.progress("evaluations", shown)
    with progress as bar, opened(folder, manifest(entries, len(chunks))) as store:
        finished = store.finished()
        todo = {name: job for name, job in chunks.items() if name not in finished or not store.whole(name)}
        found = Swept(len(chunks), len(chunks) - len(todo))
        total = sum(job.evaluations for job in chunks.values())
        before = total - sum(job.evaluations for job in todo.values())
        task = bar.add_task("sweeping", total=total, completed=before)
        try:
            with closing(_computed(todo, workers)) as shards:
                for name, shard in shards:
                    store.write(f"{SHARDS}/{name}.parquet", shard)
                    found.computed += 1
                    found.evaluations += todo[name].evaluations
                    bar.update(task, completed=before + found.evaluations)
        except KeyboardInterrupt:
            found.interrupted = True
            found.computed = len(store.finished() & todo.keys())
    return found


def _computed(chunks: dict[str, Slice], workers: int | str) -> Generator[tuple[str, bytes], None, None]:
    left = dict(chunks)
    if isinstance(workers, str):
        yield from clustered(computed, list(left.items()), workers)
        return
    while left:
        before = len(left)
        try:
            with closing(shared(computed, list(left.items()), workers)) as found:
                for (name, _), shard in found:
                    del left[name]
                    yield shard
        except BrokenProcessPool:
            if len(left) == before:
                message = "worker processes die (out of memory?); use fewer --workers"
                raise BadInput(message) from None


@dataclass(frozen=True)
class Store:
    """A results folder that only this process writes to."""

    folder: Path

    def finished(self) -> set[str]:
        """The names of the finished chunks."""
        return {path.stem for path in (self.folder / SHARDS).glob("[!.]*.parquet")}

    def whole(self, name: str) -> bool:
        """Whether a finished shard can be read."""
        try:
            return bool(parquet.read_metadata(self.folder / SHARDS / f"{name}.parquet"))
        except (pa.ArrowException, OSError):
            return False

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the folder, flushed before it is renamed: readers never see part of it. BadInput
        if the disk refuses, without damage to other files.
        """
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
        if (there := recorded.get(key)) == now:
            continue
        what = f"{'results format' if key == 'format' else key} {there}, this is {now}"
        if key in ("sources", "versions") and isinstance(there, dict):
            name = next(name for name in (*now, *there) if there.get(name) != now.get(name))
            what = f"{name} {there.get(name)}, this is {now.get(name)}"
            what = f"another state of {name}" if key == "sources" else what
        elif key in ("configuration", "digest", "metrics", "chunks"):
            what = "another configuration"
        raise BadInput(f"{folder}: holds results of {what}; name another folder with --results")


def _refusal(folder: Path, error: BaseException | None) -> BadInput:
    assert isinstance(error, OSError)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return BadInput(f"{folder}: the disk is full; finished chunks are kept")
    return unusable(folder, error)
