"""Runners of chunks: processes of this machine, a Dask cluster, or Ray.

A runner takes chunks and yields (name, shard) of each, in any order. Only a few chunks are in progress at a
time, so memory does not grow with the number of chunks. A chunk whose worker is lost is computed again.
"""

import logging
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from importlib import import_module
from itertools import islice
from socket import create_connection
from typing import Any

from draftproof.simulators.pool import AHEAD, shared
from draftproof.simulators.study.plan import Chunk, computed
from draftproof.theory.errors import BadInput

Shards = Generator[tuple[str, bytes], None, None]
Runner = Callable[[Sequence[Chunk]], Shards]

PATIENCE = 10  # seconds to wait for a scheduler's answer, or for its first worker


def processes(workers: int) -> Runner:
    """Processes on this machine."""

    def run(chunks: Sequence[Chunk]) -> Shards:
        left = {chunk.name: chunk for chunk in chunks}
        while left:
            before = len(left)
            try:
                with closing(shared(computed, list(left.values()), workers)) as found:
                    for chunk, shard in found:
                        del left[chunk.name]
                        yield shard
            except BrokenProcessPool:
                if len(left) == before:
                    message = "worker processes die (out of memory?); use fewer --workers"
                    raise BadInput(message) from None

    return run


def dask(url: str) -> Runner:
    """A Dask cluster that is already running; draftproof must be installed on its workers."""

    def run(chunks: Sequence[Chunk]) -> Shards:
        try:
            from distributed import Client, as_completed
        except ImportError:
            raise BadInput("--scheduler needs Dask: pip install 'draftproof[dask]'") from None
        try:
            client: Any = Client(url, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise BadInput(f"--scheduler {url}: cannot be reached ({_line(error)})") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise BadInput(f"--scheduler {url}: has no workers") from None
            rest = iter(chunks)

            def some(count: int) -> list[Any]:
                return client.map(computed, list(islice(rest, count)), pure=False, retries=3)

            under_way = as_completed(some(AHEAD * sum(client.nthreads().values())))
            try:
                for future in under_way:
                    yield future.result()
                    future.release()
                    for more in some(1):
                        under_way.add(more)
            except (KeyboardInterrupt, GeneratorExit):
                for library in ("distributed", "tornado"):  # they would log cancelled work as errors
                    for name in (library, f"{library}.client", f"{library}.application"):
                        logging.getLogger(name).setLevel(logging.CRITICAL)
                raise

    return run


def ray() -> Runner:
    """Ray: the cluster in RAY_ADDRESS or one started here by `ray start`, else this machine."""

    def run(chunks: Sequence[Chunk]) -> Shards:
        try:
            library: Any = import_module("ray")
        except ImportError:
            raise BadInput("--ray needs Ray: pip install 'draftproof[ray]'") from None
        _check_reachable(os.environ.get("RAY_ADDRESS", ""))
        try:
            library.init(log_to_driver=False, logging_level="error", include_dashboard=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise BadInput(f"--ray: cannot be reached ({_line(error)})") from None
        try:
            task, rest = library.remote(computed).options(max_retries=3), iter(chunks)
            ahead = AHEAD * int(library.cluster_resources().get("CPU", 1))
            under_way = [task.remote(chunk) for chunk in islice(rest, ahead)]
            while under_way:
                done, under_way = library.wait(under_way)
                try:
                    yield library.get(done[0])
                except library.exceptions.RayTaskError as error:
                    raise BadInput(str(error.cause)) from None
                under_way += [task.remote(chunk) for chunk in islice(rest, 1)]
        finally:
            library.shutdown()

    return run


def _check_reachable(address: str) -> None:
    # Ray itself would retry for minutes.
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            create_connection((host, int(port)), PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise BadInput(f"--ray: RAY_ADDRESS {address} cannot be reached ({error})") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
