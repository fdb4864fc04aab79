"""Rows of a target and a drafter that somebody recorded, one position after another, and what they accept.

A file of numpy's, made by `np.savez` or `np.savez_compressed`: `target` and `proposal` [n, V], float16 to
float64, and perhaps `sequence` [n], which says which rows belong together. Rows may stand at the nodes of
trees: `parent` [n] is the number of the parent's row, -1 at a root, `token` [n] the token that leads from it,
and `trees` names the trees that were drawn there (`draftproof.simulators.study.recorded_trees`). Rows are
read a few at a time.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from draftproof.simulators.files import unusable
from draftproof.simulators.study.designs import COLUMNS, SIBLINGS, Column
from draftproof.theory.errors import BadInput

OFF = 0.02
"""How far a row's sum may be from 1: float16 rows of 150,000 tokens lose that much. It is normalised."""


class Recorded:
    """An open file: `shape`, `sequence` (row numbers where the file has none), `parent` and `token` (-1 where
    it has none), `trees`, and its rows one by one.

    Raises BadInput that names the file and the fault.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise unusable(path, error) from None
        except zipfile.BadZipFile:
            raise BadInput(f"{path}: not a .npz file") from None
        self.shape = self._shape("target")
        if (other := self._shape("proposal")) != self.shape:
            raise BadInput(f"{path}: target is {list(self.shape)}, proposal {list(other)}")
        n, vocab = self.shape
        if not n or vocab < 2:
            raise BadInput(f"{path}: target has {n} rows of {vocab} tokens")
        self.sequence = self._numbers("sequence", np.arange(n))
        self.parent = self._numbers("parent", np.full(n, -1))
        self.token = self._numbers("token", np.full(n, -1))
        self.trees = self._words("trees")
        self._must_be_trees()

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pairs (p, q) in order, float64 and normalised."""
        with ExitStack() as stack:
            files = [(name, *stack.enter_context(self._opened(name))) for name in ("target", "proposal")]
            for number in range(self.shape[0]):
                p, q = (self._row(number, name, file, dtype) for name, file, _, dtype in files)
                yield p, q

    def chosen(self, count: int | None) -> np.ndarray:
        """The numbers of `count` rows at roots, evenly spaced; of all for None or if there are not more."""
        roots = np.flatnonzero(self.parent < 0)
        n = len(roots)
        return roots[np.unique(np.linspace(0, n - 1, min(count or n, n)).round().astype(int))]

    def _row(self, number: int, name: str, file: IO[bytes], dtype: np.dtype) -> np.ndarray:
        row = np.frombuffer(self._exactly(file, self.shape[1] * dtype.itemsize, name), dtype).astype(float)
        mass = row.sum()
        if not row.min() >= 0 or not abs(mass - 1) <= OFF:
            fault = f"sums to {mass:.4g}, not 1" if row.min() >= 0 else "is not non-negative numbers"
            raise BadInput(f"{self.path}: {name}: row {number} {fault}")
        return row / mass

    def _numbers(self, name: str, otherwise: np.ndarray) -> np.ndarray:
        if f"{name}.npy" not in self._zip.namelist():
            return otherwise
        n = self.shape[0]
        with self._opened(name) as (file, shape, dtype):
            if shape != (n,) or dtype.kind not in "iu":
                raise BadInput(f"{self.path}: {name} must be {n} whole numbers, not {list(shape)} {dtype}")
            return np.frombuffer(self._exactly(file, n * dtype.itemsize, name), dtype)

    def _words(self, name: str) -> tuple[str, ...]:
        if f"{name}.npy" not in self._zip.namelist():
            return ()
        with self._opened(name) as (file, shape, dtype):
            if len(shape) != 1 or not shape[0] or dtype.kind != "U" or not dtype.itemsize:
                raise BadInput(f"{self.path}: {name} must be words, not {list(shape)} {dtype}")
            return tuple(np.frombuffer(self._exactly(file, shape[0] * dtype.itemsize, name), dtype).tolist())

    def _must_be_trees(self) -> None:
        # Of every row but a root's the parent is an earlier row of the same tree, whose rows stand together.
        if self.trees and self.parent[0] >= 0:
            raise BadInput(f"{self.path}: parent: row 0 is not a root, -1")
        root = 0
        for row, (parent, token) in enumerate(zip(self.parent.tolist(), self.token.tolist(), strict=True)):
            root = row if parent < 0 else root
            if parent >= 0 and not root <= parent < row:
                raise BadInput(f"{self.path}: parent: row {row} must name one of rows {root} to {row - 1}")
            if parent >= 0 and not 0 <= token < self.shape[1]:
                raise BadInput(f"{self.path}: token: row {row} has {token}, no token of {self.shape[1]}")

    def _shape(self, name: str) -> tuple[int, int]:
        with self._opened(name) as (_, shape, dtype):
            if len(shape) != 2 or dtype.kind != "f":
                raise BadInput(f"{self.path}: {name} must be floats [n, V], not {list(shape)} {dtype}")
            return shape

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[IO[bytes], Any, np.dtype]]:
        # An array's bytes behind its header, its shape and its dtype.
        if f"{name}.npy" not in self._zip.namelist():
            raise BadInput(f"{self.path}: has no array {name!r}")
        try:
            file = self._zip.open(f"{name}.npy")
        except (OSError, zipfile.BadZipFile) as error:
            raise BadInput(f"{self.path}: {name} cannot be read: {error}") from None
        with file:
            try:
                major, _ = np.lib.format.read_magic(file)
                of_1_0, of_2_0 = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = (of_1_0 if major == 1 else of_2_0)(file)
            except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
                raise BadInput(f"{self.path}: {name} is not an array of numpy: {error}") from None
            if dtype.hasobject or (by_columns and len(shape) > 1):
                raise BadInput(f"{self.path}: {name} must be plain numbers, row by row")
            yield file, shape, dtype

    def _exactly(self, file: IO[bytes], size: int, name: str) -> bytes:
        try:
            found = file.read(size)
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise BadInput(f"{self.path}: {name} cannot be read: {error}") from None
        if len(found) < size:
            raise BadInput(f"{self.path}: {name} ends early")
        return found


@dataclass(frozen=True)
class Accepted:
    """The mean over rows for each number of siblings, and the half width of its 95 % interval."""

    column: Column
    mean: list[float]
    half: list[float | None]


def measured(
    recorded: Recorded, count: int | None = None, progress: Callable[[], object] = lambda: None
) -> list[Accepted]:
    """Every column on the rows `chosen`; intervals are clustered by sequence."""
    chosen = recorded.chosen(count)
    found = []
    for number, (p, q) in enumerate(recorded.rows()):
        if number in chosen:
            rng = np.random.default_rng(number)
            found.append([column.accepted(p, q, SIBLINGS, rng) for column in COLUMNS])
            progress()
    values = np.array(found)  # [rows, columns, siblings]
    mean, half = values.mean(axis=0), half_width(values, recorded.sequence[chosen])
    return [
        Accepted(column, mean[c].tolist(), [None] * len(SIBLINGS) if half is None else half[c].tolist())
        for c, column in enumerate(COLUMNS)
    ]


def half_width(values: np.ndarray, cluster: np.ndarray) -> np.ndarray | None:
    """Half the width of 95 % intervals of the means over the first axis: rows of one cluster may depend on
    each other, clusters not (Student's t, one degree of freedom less than clusters). None for one cluster.
    """
    names, which = np.unique(cluster, return_inverse=True)
    if len(names) < 2:
        return None
    from scipy.stats import t  # here, since other commands need no scipy to start

    off = np.zeros((len(names), *values.shape[1:]))
    np.add.at(off, which, values - values.mean(axis=0))
    variance = (off**2).sum(axis=0) * len(names) / (len(names) - 1) / len(values) ** 2
    return t.ppf(0.975, len(names) - 1) * np.sqrt(variance)
