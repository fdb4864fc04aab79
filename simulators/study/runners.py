"""Runners of chunks: processes of this machine, or a Dask cluster.

A runner takes chunks and yields (name, shard) of each, in any order. Only a few chunks are in progress at a
time, so memory does not grow with the number of chunks. A chunk whose worker is lost is computed again.
"""

import logging
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

from draftproof.simulators.study.plan import Chunk, computed
from draftproof.simulators.support.pool import AHEAD, flowing, shared
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
            from distributed import Client
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
            executor = client.get_executor(pure=False, retries=3)
            ahead = AHEAD * sum(client.nthreads().values())
            try:
                with closing(flowing(executor, computed, chunks, ahead)) as found:
                    yield from (shard for _, shard in found)
            except (KeyboardInterrupt, GeneratorExit):
                for library in ("distributed", "tornado"):  # they would log cancelled work as errors
                    for name in (library, f"{library}.client", f"{library}.application"):
                        logging.getLogger(name).setLevel(logging.CRITICAL)
                raise

    return run


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
