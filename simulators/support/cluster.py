"""Shares work on a Dask cluster that is already running; draftproof must be installed on its workers."""

import logging
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any

from draftproof.simulators.support.pool import AHEAD
from draftproof.theory.errors import BadInput

PATIENCE = "10s"  # until a scheduler answers and has a worker


def clustered(function: Callable[[Any], Any], items: Sequence[Any], url: str) -> Generator[Any, None, None]:
    """function(item) of every item, in any order; one whose worker is lost is computed again.

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
