"""Triton's interpreter with the programs of a grid interleaved, where by itself it runs one after the other.

Every program is a thread, of which one runs at a time; at each load, store and atomic another may go on. What
happens is a function of the seed.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import prod
from random import Random
from threading import Semaphore
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Index = tuple[int, ...]
MACHINE = interpreter._interpreter  # what the interpreter loads and stores with
GRID = interpreter.interpreter_builder  # where a program finds its place in the grid
ACQUIRES = (MACHINE.MEM_SEMANTIC.ACQUIRE, MACHINE.MEM_SEMANTIC.ACQUIRE_RELEASE)
RELEASES = (MACHINE.MEM_SEMANTIC.RELEASE, MACHINE.MEM_SEMANTIC.ACQUIRE_RELEASE)


@contextmanager
def interleaved(seed: int, weak: bool = False) -> Iterator[set[tuple[str, str]]]:
    """Kernels launched inside are interleaved; gives the races met: a kernel and an argument of it, where a
    program read or wrote over what another one had written without a release and an acquire between.

    With `weak`, a load in such a race gives any of the values that were not known to be overwritten, and
    without, the last one.
    """
    random, races = Random(seed), set()

    def executor(fn: Callable, names: list[str], grid: Any, hooks: Any = ()) -> Any:
        # A grid may be a function of the arguments: this one runs all programs, and leaves none to be run.
        return plain(fn, names, partial(_run, random, weak, races, fn, grid), hooks)

    plain = interpreter.GridExecutor
    with patch.object(interpreter, "GridExecutor", executor):
        yield races


def _run(random: Random, weak: bool, races: set, fn: Callable, grid: Index, args: dict[str, Any]) -> Index:
    assert prod(grid) > 0
    grid = (*grid, 1, 1)[:3]
    GRID.set_grid_dim(*grid)
    programs = Programs(grid, random)
    memory = Memory(programs, random, weak)
    operations = {name: getattr(memory, name) for name in ("load", "store", "atomic_rmw")}
    with patch.object(interpreter, "_interpreter", SimpleNamespace(**operations)):
        programs.run(partial(fn, **args))
    given = [pair for name, each in args.items() for pair in _parts(name, each)]
    pointers = {name: each for name, each in given if isinstance(each, tl.tensor) and each.dtype.is_ptr()}
    starts = {int(each.handle.data[0]): name for name, each in pointers.items()}
    for address in memory.races:
        races.add((fn.__name__, starts[max(start for start in starts if start <= address)]))
    return (0,)


def _parts(name: str, given: Any) -> list[tuple[str, Any]]:
    """An argument, or the fields of one that is a tuple, and theirs, with their names."""
    if not isinstance(given, tuple | tl.tuple):
        return [(name, given)]
    fields = getattr(given, "_fields", None) or getattr(getattr(given, "type", None), "fields", None)
    fields = fields or [f"{name} {at}" for at in range(len(given))]
    return [pair for each in zip(fields, given, strict=True) for pair in _parts(*each)]


class Programs:
    """The programs of one grid in an order that changes; the first one runs.

    How readily it changes is drawn for each launch: from a different program at every access to programs
    that run nearly to their end.
    """

    def __init__(self, grid: Index, random: Random):
        self.order = list(np.ndindex(*grid))
        self.random = random
        self.readily = random.choice((1.0, 0.1, 0.01))
        self.gates = {index: Semaphore(0) for index in self.order}
        random.shuffle(self.order)

    def run(self, body: Callable[[], object]) -> None:
        with ThreadPoolExecutor(len(self.order)) as pool:
            ends = [pool.submit(self._whole, body, index) for index in self.gates]
            self.gates[self.order[0]].release()
        for end in ends:
            end.result()

    def hand_over(self) -> Index:
        """The program that calls this goes on when it is its turn again; its index."""
        running = self.order[0]
        if self.random.random() < self.readily:
            self.order.insert(self.random.randrange(len(self.order)), self.order.pop(0))
            if self.order[0] != running:
                self.gates[self.order[0]].release()
                self._wait(running)
        return running

    def _whole(self, body: Callable[[], object], index: Index) -> None:
        self._wait(index)
        try:
            body()
        finally:
            self.order.pop(0)
            if self.order:
                self.gates[self.order[0]].release()

    def _wait(self, index: Index) -> None:
        self.gates[index].acquire()
        GRID.grid_idx = index


class Memory:
    """The memory of one launch, element by element: every value that it held, and what programs know of it.

    A program knows when the oldest value was written that it may still read of an address: the one that it
    read or wrote itself, or a later one that came with what it acquired. An atomic acts on the last value;
    what it releases stays with the address, through later atomics, until a plain store.
    """

    def __init__(self, programs: Programs, random: Random, weak: bool):
        self.programs, self.random, self.weak = programs, random, weak
        self.clock = 0
        self.values: dict[int, list[tuple[int, Any]]] = {}
        self.known: dict[Index, dict[int, int]] = {index: {} for index in programs.gates}
        self.released: dict[int, dict[int, int]] = {}
        self.races: set[int] = set()

    def load(self, at: np.ndarray, mask: np.ndarray, other: np.ndarray, dtype: Any) -> np.ndarray:
        known = self.known[self.programs.hand_over()]
        found = MACHINE.load(at, mask, other, dtype)
        for i in np.flatnonzero(mask & np.isin(at, np.array([*self.values], at.dtype))):
            address = int(at.flat[i])
            possible = [value for value in self.values[address] if value[0] >= known.get(address, 0)]
            if len(possible) > 1:
                self.races.add(address)
            known[address], found.flat[i] = self.random.choice(possible) if self.weak else possible[-1]
        return found

    def store(self, at: np.ndarray, value: np.ndarray, mask: np.ndarray) -> None:
        known = self.known[self.programs.hand_over()]
        before = MACHINE.load(at, mask, np.zeros_like(value), value.dtype)
        MACHINE.store(at, value, mask)
        for i in np.flatnonzero(mask):
            address = int(at.flat[i])
            if address in self.values and self.values[address][-1][0] > known.get(address, 0):
                self.races.add(address)
            self.released.pop(address, None)
            self._wrote(known, address, before.flat[i], value.flat[i])

    def atomic_rmw(
        self, operation: Any, at: np.ndarray, value: np.ndarray, mask: np.ndarray, order: Any
    ) -> np.ndarray:
        known = self.known[self.programs.hand_over()]
        before = MACHINE.atomic_rmw(operation, at, value, mask, order)
        after = MACHINE.load(at, mask, before, before.dtype)
        for i in np.flatnonzero(mask):
            address = int(at.flat[i])
            released = self.released.setdefault(address, {})
            if order in ACQUIRES:
                _learn(known, released)
            self._wrote(known, address, before.flat[i], after.flat[i])
            if order in RELEASES:
                _learn(released, known)
        return before

    def _wrote(self, known: dict[int, int], address: int, before: Any, value: Any) -> None:
        self.clock += 1
        self.values.setdefault(address, [(0, before)]).append((self.clock, value))
        known[address] = self.clock


def _learn(known: dict[int, int], more: dict[int, int]) -> None:
    for address, time in more.items():
        known[address] = max(time, known.get(address, 0))
