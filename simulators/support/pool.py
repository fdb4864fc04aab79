"""Shares work among processes of this machine, or on a Dask cluster that is already running."""

import logging
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from multiprocessing import active_children, get_context, resource_tracker
from threading import Thread
from time import sleep
from typing import Any, TypeVar

from draftproof.theory.errors import BadInput

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = "10s"  # until a scheduler answers and has a worker
AHEAD = 2  # items in progress for each process, so that memory does not grow with the number of items


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared(
    function: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Generator[tuple[Item, Result], None, None]:
    """(item, function(item)) as they are finished; computed in this process if `processes` is 1.

    A KeyboardInterrupt ends the processes and is raised again; closing the generator ends them too. Raises
    `BrokenProcessPool` if one dies; items that were not yielded may be tried again.
    """
    if processes == 1:
        for item in items:
            yield item, function(item)
        return
    executor = ProcessPoolExecutor(processes, get_context("spawn"), _end_with, (os.getpid(),))
    rest, pending = iter(items), dict[Future[Result], Item]()

    def submit(count: int) -> None:
        with _no_interrupt():
            pending.update((executor.submit(function, item), item) for item in islice(rest, count))

    try:
        submit(AHEAD * processes)
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                submit(1)
                yield pending.pop(future), future.result()
    except (KeyboardInterrupt, GeneratorExit):
        for process in active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    # Processes started here ignore Ctrl-C: this one handles it and then ends them.
    resource_tracker.ensure_running()  # if started later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    # Runs in a process of the pool and ends it when its parent has ended.
    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def clustered(function: Callable[[Any], Any], items: Sequence[Any], url: str) -> Generator[Any, None, None]:
    """function(item) of every item, in any order; one whose worker is lost is computed again. draftproof must
    be installed on the workers.

    Raises BadInput if Dask is not installed, if nothing answers at the address, or if no worker is there.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise BadInput("--scheduler needs Dask: pip install 'draftproof[dask]'") from None
    try:
        client: Any = Client(url, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise BadInput(f"--scheduler {url}: cannot be reached ({' '.join(str(error).split())})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BadInput(f"--scheduler {url}: has no workers") from None
        rest = iter(items)

        def submit(count: int) -> list[Any]:
            return client.map(function, list(islice(rest, count)), pure=False, retries=3)

        try:
            pending: Any = as_completed(submit(AHEAD * sum(client.nthreads().values())))
            for future in pending:
                pending.update(submit(1))
                yield future.result()
        except (KeyboardInterrupt, GeneratorExit):
            for library in ("distributed", "tornado"):  # they would log cancelled work as errors
                for name in (library, f"{library}.client", f"{library}.application"):
                    logging.getLogger(name).setLevel(logging.CRITICAL)
            raise
