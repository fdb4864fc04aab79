"""Who computes chunks: processes of this machine, a Dask cluster, or Ray.

A runner takes chunks and a store, and yields the name of each chunk with what was written of it, in
any order. Processes of this machine write themselves; the workers of a cluster send bytes here. It
has a few chunks under way and no more, so memory does not grow with the number of chunks. A chunk
whose worker is lost is computed again.
"""

import logging
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from socket import create_connection
from threading import Thread
from time import sleep
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from draftproof.simulators.sweep.plan import Chunk, computed
from draftproof.simulators.sweep.store import Store
from draftproof.theory.errors import BadInput

Written = Iterator[tuple[str, Path]]
Runner = Callable[[Sequence[Chunk], Store], Written]

AHEAD = 2
"""Chunks under way for each worker."""

PATIENCE = 10
"""Seconds that a scheduler has to answer, or to find a first worker."""

HARMLESS = (
    "A worker stopped",  # it is replaced; nothing is lost
    r"\d+ tasks (have been successfully executed|which were still being processed)",  # given up after Ctrl-C
)
"""Beginnings of joblib's warnings that are nothing to worry about."""


def processes(workers: int) -> Runner:
    """Processes on this machine, by joblib."""

    def run(chunks: Sequence[Chunk], store: Store) -> Written:
        left = {chunk.name: chunk for chunk in chunks}
        while left:
            before = len(left)
            try:
                for name, part in _parallel(list(left.values()), store, workers):
                    del left[name]
                    yield name, part
            except TerminatedWorkerError:
                if len(left) == before:
                    raise BadInput(
                        "worker processes die (out of memory?); fewer --workers need less"
                    ) from None

    return run


def _parallel(chunks: Sequence[Chunk], store: Store, workers: int) -> Written:
    settings: dict[str, Any] = {"return_as": "generator_unordered", "batch_size": 1}
    if workers > 1:
        settings |= {"pre_dispatch": AHEAD * workers, "initializer": _tied, "initargs": (os.getpid(),)}
    for harmless in HARMLESS:
        warnings.filterwarnings("ignore", harmless, UserWarning)
    with _no_interrupt() if workers > 1 else nullcontext():
        written: Any = Parallel(workers, **settings)(delayed(_written)(chunk, store) for chunk in chunks)
    try:
        yield from written
    finally:
        written.close()


def _written(chunk: Chunk, store: Store) -> tuple[str, Path]:
    return chunk.name, store.write(chunk.name, computed(chunk))


def _sent(chunk: Chunk) -> tuple[str, bytes]:
    return chunk.name, b"".join(computed(chunk))


@contextmanager
def _no_interrupt() -> Iterator[None]:
    # Ctrl-C is for the parent, which then ends its workers: those that start here never hear of it.
    resource_tracker.ensure_running()  # started later it would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tied(parent: int) -> None:
    # Without a parent workers end themselves.
    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def dask(url: str) -> Runner:
    """A Dask cluster that is already there; draftproof must be installed on its workers."""

    def run(chunks: Sequence[Chunk], store: Store) -> Written:
        try:
            from distributed import Client, as_completed
        except ImportError:
            raise BadInput("--scheduler needs Dask: pip install 'draftproof[dask]'") from None
        try:
            client: Any = Client(url, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise BadInput(f"--scheduler {url}: cannot be reached ({reason})") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise BadInput(f"--scheduler {url}: has no workers") from None
            rest = iter(chunks)

            def some(count: int) -> list[Any]:
                return client.map(_sent, list(islice(rest, count)), pure=False, retries=3)

            under_way = as_completed(some(AHEAD * sum(client.nthreads().values())))
            try:
                for future in under_way:
                    name, shard = future.result()
                    yield name, store.write(name, [shard])
                    future.release()
                    for more in some(1):
                        under_way.add(more)
            except (KeyboardInterrupt, GeneratorExit):
                for library in ("distributed", "tornado"):  # what they say of work given up is not news
                    logging.getLogger(library).setLevel(logging.CRITICAL)
                raise

    return run


def ray() -> Runner:
    """Ray: the cluster that RAY_ADDRESS names or `ray start` left here, else this machine."""

    def run(chunks: Sequence[Chunk], store: Store) -> Written:
        try:
            library: Any = import_module("ray")
        except ImportError:
            raise BadInput("--ray needs Ray: pip install 'draftproof[ray]'") from None
        _answers(os.environ.get("RAY_ADDRESS", ""))
        try:
            library.init(log_to_driver=False, logging_level="error", include_dashboard=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise BadInput(f"--ray: cannot be reached ({' '.join(str(error).split())})") from None
        try:
            task, rest = library.remote(_sent).options(max_retries=3), iter(chunks)
            ahead = AHEAD * int(library.cluster_resources().get("CPU", 1))
            under_way = [task.remote(chunk) for chunk in islice(rest, ahead)]
            while under_way:
                done, under_way = library.wait(under_way)
                try:
                    name, shard = library.get(done[0])
                except library.exceptions.RayTaskError as error:
                    raise BadInput(str(error.cause)) from None
                yield name, store.write(name, [shard])
                under_way += [task.remote(chunk) for chunk in islice(rest, 1)]
        finally:
            library.shutdown()

    return run


def _answers(address: str) -> None:
    # Ray itself would try for minutes.
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            create_connection((host, int(port)), PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise BadInput(f"--ray: RAY_ADDRESS {address} cannot be reached ({error})") from None
