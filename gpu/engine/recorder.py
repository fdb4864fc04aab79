"""Passes that come again with the same shapes are recorded, and then launched as one CUDA graph each."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.graphs import captured, waits
from draftproof.gpu.memory import out_of_memory

Call: TypeAlias = Callable[[], Any]
Recording: TypeAlias = Callable[[Call, torch.device], Call | None]
"""Of a call, how to launch it again with what its arguments hold then; None where that cannot be."""

GRAPHS = ContextVar("GRAPHS", default=True)
"""Whether recorders made now record."""

CALLS = 8
"""Plain calls before a function is recorded, which costs about as much as six."""


class Recorder:
    """Calls functions of tensors, and from the ninth call of one kind on a recording of it.

    A kind is a name, the names, shapes and types of the tensors given, and every other argument's value.
    A function of one name always does the same, and done twice it changes nothing more: recording takes a
    few runs. What it uses besides its arguments stays where it is in memory; these are copied to where
    the recording reads them, unless they are another recording's result. Whoever calls is done with a
    result before the next call of its kind, which overwrites it. What waits for the device cannot be
    recorded and goes on as plain calls, as all do where there is no GPU.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.records = recording(device)
        self.calls: Counter[Hashable] = Counter()
        self.known: dict[Hashable, tuple[Call, dict[str, Tensor]] | None] = {}
        self.results: set[int] = set()  # where recordings leave them

    def __call__(self, name: Hashable, function: Callable[..., Any], **given: Any) -> Any:
        """function(**given)."""
        if self.records is None:
            return function(**given)
        kind = (name, *((key, _kind(value)) for key, value in given.items()))
        if kind not in self.known:
            self.calls[kind] += 1
            if self.calls[kind] <= CALLS:
                return function(**given)
            self.known[kind] = self._record(self.records, function, given)
        record = self.known[kind]
        if record is None:
            return function(**given)
        again, held = record
        for key, kept in held.items():
            if _place(kept) != _place(given[key]):
                kept.copy_(given[key])
        return again()

    def _record(
        self, records: Recording, function: Callable[..., Any], given: dict[str, Any]
    ) -> tuple[Call, dict[str, Tensor]] | None:
        held = {key: value for key, value in given.items() if isinstance(value, Tensor)}
        held = {key: each if each.data_ptr() in self.results else each.clone() for key, each in held.items()}
        again = records(partial(function, **{**given, **held}), self.device)
        if again is None:
            return None
        self.results.update(each.data_ptr() for each in tensors(again()))
        return again, held

    @property
    def active(self) -> bool:
        """Whether anything is ever recorded, and results may be overwritten."""
        return self.records is not None

    def forget(self) -> None:
        """Drops all recordings: memory that they use has moved."""
        self.calls.clear()
        self.known.clear()
        self.results.clear()


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


def cuda_graph(call: Call, device: torch.device) -> Call | None:
    """A CUDA graph of the call; None where it waits for the device, or cannot be captured after all."""
    if waits(call, device):
        return None
    try:
        replay, result = captured(call, device)
    except RuntimeError as error:
        if out_of_memory(error):
            raise
        return None

    def again() -> Any:
        replay()
        return result

    return again


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors of a result: of tuples, of a network's output, of records.

    >>> len(list(tensors((torch.zeros(1), {"a": torch.zeros(1), "b": None}))))
    2
    """
    if isinstance(value, Tensor):
        yield value
        return
    if is_dataclass(value) and not isinstance(value, dict):
        value = vars(value)
    if isinstance(value, dict | tuple | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors(each)


def _place(tensor: Tensor) -> tuple[int, tuple[int, ...]]:
    return tensor.data_ptr(), tensor.stride()


def _kind(value: Any) -> Hashable:
    return (value.shape, value.dtype) if isinstance(value, Tensor) else value
