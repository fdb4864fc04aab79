"""Passes that come again with the same shapes are recorded, and then launched as one CUDA graph each."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import torch
from torch import Tensor

from gpu.graphs import captured, waits
from gpu.memory import out_of_memory

Given: TypeAlias = dict[str, Any]
Record: TypeAlias = Callable[[Given], Any]
Recording: TypeAlias = Callable[[Callable[..., Any], Given, torch.device], Record | None]

GRAPHS = ContextVar("GRAPHS", default=True)
"""Whether recorders made now record."""

CALLS = 8
"""Plain calls before a function is recorded, which costs about as much as six."""


class Recorder:
    """Calls functions of tensors, and from the ninth call of one kind on a recording of it.

    A kind is a name, the names, shapes and types of the tensors given, and every other argument's value.
    A function of one name always does the same, and done twice it changes nothing more: recording takes a
    few runs. What it uses besides its arguments stays where it is in memory. Whoever calls is done with a
    result before the next call of its kind, which overwrites it. What waits for the device cannot be
    recorded and goes on as plain calls, as all do where there is no GPU.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.records = recording(device)
        self.calls: Counter[Hashable] = Counter()
        self.known: dict[Hashable, Record | None] = {}

    def __call__(self, name: Hashable, function: Callable[..., Any], **given: Any) -> Any:
        """function(**given)."""
        if self.records is None:
            return function(**given)
        kind = (name, *((key, _kind(value)) for key, value in given.items()))
        if kind not in self.known:
            self.calls[kind] += 1
            if self.calls[kind] <= CALLS:
                return function(**given)
            self.known[kind] = self.records(function, given, self.device)
        record = self.known[kind]
        return function(**given) if record is None else record(given)

    @property
    def active(self) -> bool:
        """Whether anything is ever recorded, and results may be overwritten."""
        return self.records is not None

    def forget(self) -> None:
        """Drops all recordings: memory that they use has moved."""
        self.calls.clear()
        self.known.clear()


def recording(device: torch.device) -> Recording | None:
    """How to record on a device; None where nothing is recorded."""
    return cuda_graph if device.type == "cuda" and GRAPHS.get() else None


@contextmanager
def without_graphs() -> Iterator[None]:
    """Runs that begin in here record nothing."""
    token = GRAPHS.set(False)
    try:
        yield
    finally:
        GRAPHS.reset(token)


def cuda_graph(function: Callable[..., Any], given: Given, device: torch.device) -> Record | None:
    """A CUDA graph of the call; None where it waits for the device, or cannot be captured after all."""
    held = {key: value.clone() for key, value in given.items() if isinstance(value, Tensor)}

    def call() -> Any:
        return function(**{**given, **held})

    if waits(call, device):
        return None
    try:
        replay, result = captured(call, device)
    except RuntimeError as error:
        if out_of_memory(error):
            raise
        return None

    def again(given: Given) -> Any:
        for key, kept in held.items():
            kept.copy_(given[key])
        replay()
        return result

    return again


def _kind(value: Any) -> Hashable:
    return (value.shape, value.dtype) if isinstance(value, Tensor) else value
