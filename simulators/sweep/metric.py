"""What a sweep can measure: a metric cuts its part of a family into jobs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from draftproof.simulators.sweep.configuration import Entry


class Job(Protocol):
    """A pure piece of work, small to send: called, it gives its rows, the same ones every time."""

    @property
    def evaluations(self) -> int: ...

    def __call__(self) -> pa.Table: ...


@dataclass(frozen=True)
class Metric:
    """A name, the columns of its rows, and how an entry of the configuration is cut into jobs."""

    name: str
    schema: pa.Schema
    jobs: Callable[[Entry], Iterator[Job]]
