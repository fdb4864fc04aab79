"""CUDA graphs: the kernel launches of a repeated call are captured once and replayed as one launch."""

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import is_dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from draftproof.gpu.sampling.device import out_of_memory

Result = TypeVar("Result")
Call: TypeAlias = Callable[[], Any]
Recording: TypeAlias = Callable[[Call, torch.device], Call | None]
"""Captures a call and returns a function that replays it on its arguments' current contents; returns None if
the call cannot be captured."""

RESULTS: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
"""The results of all recordings, by address; each replay writes them there."""

GRAPHS = ContextVar("GRAPHS", default=True)  # whether new recorders capture graphs
CALLS = 8  # plain calls before a function is captured; a capture costs about six of them


def captured(call: Callable[[], Result], device: torch.device) -> tuple[Callable[[], object], Result]:
    """Captures a call; returns the replay function and the result, whose tensors each replay overwrites.

    The call must read the same memory each time and must not wait for the device (see `waits`). Before the
    capture it runs three times on a separate stream, so that kernels are compiled and libraries are set up.
    """
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = call()
    return graph.replay, result


def waits(call: Callable[[], object], device: torch.device) -> bool:
    """Whether a call waits for the device, for instance by reading a number back.

    Such a call cannot be captured: an attempt would leave torch's generator and allocator in capture mode.
    """
    with torch.cuda.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that this mode misses some synchronisations
        torch.cuda.set_sync_debug_mode("error")
        try:
            call()
        except RuntimeError:
            return True
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return False


class Recorder:
    """Calls functions of tensors. The ninth and later calls of one kind replay a recording of the call.

    A kind is a name, the names, shapes and types of the tensor arguments, and every other argument's value.
    A name must always stand for the same function, which must be idempotent; tensors that it uses besides its
    arguments must stay at the same address. Tensor arguments are copied into the recording's buffers, unless
    they are themselves results of a recording. A result is valid until the next call of the same kind, which
    overwrites it. Calls within a recorded function are part of it. Functions that wait for the device are
    never recorded, and nothing is recorded without a GPU, nor if `records` is False.
    """

    def __init__(self, device: torch.device, records: bool = True) -> None:
        self.device, self.records = device, recording(device) if records else None
        self.active = self.records is not None  # calls may be recorded, and results be overwritten
        self.inside = False  # a function that may be recorded is being called
        self.calls: Counter[Hashable] = Counter()
        self.known: dict[Hashable, tuple[Call, partial] | None] = {}

    def __call__(
        self,
        name: Hashable,
        function: Callable[..., Any],
        harmless: Mapping[str, Tensor] | None = None,
        /,
        **given: Any,
    ) -> Any:
        """Returns function(**given). A function need not be idempotent if it changes nothing when it is given
        the `harmless` arguments.
        """
        if self.records is None or self.inside:
            return function(**given)
        kinds = ((each.shape, each.dtype) if isinstance(each, Tensor) else each for each in given.values())
        kind = (name, *zip(given, kinds, strict=True))
        if kind not in self.known:
            self.calls[kind] += 1
            if self.calls[kind] <= CALLS:
                return self._whole(function, given)
            self.known[kind] = self._record(self.records, function, {**given, **(harmless or {})})
        record = self.known[kind]
        if record is None:
            return function(**given)
        replay, call = record
        for key, kept in call.keywords.items():
            if isinstance(kept, Tensor):
                new = given[key]
                if (kept.data_ptr(), kept.stride()) != (new.data_ptr(), new.stride()):
                    kept.copy_(new)
        return replay()

    def _whole(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        self.inside = True
        try:
            return function(**given)
        finally:
            self.inside = False

    def _record(
        self, records: Recording, function: Callable[..., Any], given: dict[str, Any]
    ) -> tuple[Call, partial] | None:
        call = partial(function, **{key: _held(value) for key, value in given.items()})
        replay = records(partial(self._whole, call, {}), self.device)
        if replay is None:
            return None
        RESULTS.update((each.data_ptr(), each) for each in tensors(replay()))
        return replay, call  # keeps the call's tensors alive at their addresses

    def own(self, value: Any, rows: Tensor) -> Any:
        """A copy of these rows of a result, which no later call overwrites. Where nothing is recorded it is
        the result itself, which must have no other rows.
        """
        if not self.active or value is None:
            return value
        return value[rows] if isinstance(value, Tensor) else value.take(rows)

    def smaller(self, batch: int, needed: int) -> int:
        """The size to which a batch shrinks if `needed` rows go on: a half, a quarter, ... of it where calls
        are recorded, so that few sizes are.
        """
        if not self.active:
            return needed
        while batch // 2 >= needed:
            batch //= 2
        return batch

    def forget(self) -> None:
        """Drops all recordings; call this when memory that they use has moved."""
        self.calls.clear()
        self.known.clear()


def _held(value: Any) -> Any:
    if not isinstance(value, Tensor) or (value.data_ptr() in RESULTS and value.is_contiguous()):
        return value
    return value.clone()


def recording(device: torch.device) -> Recording | None:
    """The function that records calls on a device; None if calls are not recorded there."""
    return cuda_graph if device.type == "cuda" and GRAPHS.get() else None


def cuda_graph(call: Call, device: torch.device) -> Call | None:
    """Captures a call as a CUDA graph; None if it waits for the device or capture fails."""
    if waits(call, device):
        return None
    try:
        replay, result = captured(call, device)
    except RuntimeError as error:
        if out_of_memory(error):
            raise
        return None
    return lambda: (replay(), result)[1]


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a result: in tuples, lists, dictionaries and dataclasses, and the `tables` of a tree."""
    if isinstance(value, Tensor):
        yield value
        return
    value = vars(value) if is_dataclass(value) else getattr(value, "tables", value)
    if isinstance(value, dict | tuple | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors(each)
