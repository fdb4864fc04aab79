"""Rows of a target and a drafter that somebody recorded, one position after another, and what they accept.

A file of numpy's, made by `np.savez` or `np.savez_compressed`: `target` and `proposal` [n, V], float16 to
float64, and perhaps `sequence` [n], which says which rows belong together. Rows are read one at a time.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from draftproof.simulators.study.designs import COLUMNS, SIBLINGS, Column
from draftproof.simulators.support.files import unusable
from draftproof.theory.errors import BadInput, located

OFF = 0.02
"""How far a row's sum may be from 1: float16 rows of 150,000 tokens lose that much. It is normalised."""


class Recorded:
    """An open file: `shape`, `sequence` (row numbers where the file has none), and its rows one by one.

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
        with located(path):
            with self._opened("target") as (_, shape, _), self._opened("proposal") as (_, other, _):
                self.shape: tuple[int, int] = shape
            if other != shape:
                raise BadInput(f"target is {list(shape)}, proposal {list(other)}")
            n, vocab = shape
            if not n or vocab < 2:
                raise BadInput(f"target has {n} rows of {vocab} tokens")
            self.sequence = np.arange(n)
            if "sequence.npy" in self._zip.namelist():
                with self._opened("sequence", rows=False) as (file, shape, dtype):
                    if shape != (n,) or dtype.kind not in "iu":
                        raise BadInput(f"sequence must be {n} whole numbers, not {list(shape)} {dtype}")
                    self.sequence = _exactly(file, n, dtype)

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pairs (p, q) in order, float64 and normalised."""
        with located(self.path), self._opened("target") as target, self._opened("proposal") as proposal:
            for number in range(self.shape[0]):
                yield self._row(number, "target", *target), self._row(number, "proposal", *proposal)

    def chosen(self, count: int | None) -> np.ndarray:
        """The numbers of `count` rows, evenly spaced; of all for None or if there are not more."""
        return spaced(np.arange(self.shape[0]), count)

    def _row(self, number: int, name: str, file: IO[bytes], _: Any, dtype: np.dtype) -> np.ndarray:
        row = _exactly(file, self.shape[1], dtype).astype(float)
        mass = row.sum()
        if not row.min() >= 0 or not abs(mass - 1) <= OFF:
            fault = f"sums to {mass:.4g}, not 1" if row.min() >= 0 else "is not non-negative numbers"
            raise BadInput(f"{name}: row {number} {fault}")
        return row / mass

    @contextmanager
    def _opened(self, name: str, rows: bool = True) -> Iterator[tuple[IO[bytes], Any, np.dtype]]:
        # An array's bytes behind its header, its shape and its dtype.
        if f"{name}.npy" not in self._zip.namelist():
            raise BadInput(f"has no array {name!r}")
        try:
            with self._zip.open(f"{name}.npy") as file:
                major, _ = np.lib.format.read_magic(file)
                of_1_0, of_2_0 = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = (of_1_0 if major == 1 else of_2_0)(file)
                if dtype.hasobject or (by_columns and len(shape) > 1):
                    raise BadInput(f"{name} must be plain numbers, row by row")
                if rows and (len(shape) != 2 or dtype.kind != "f"):
                    raise BadInput(f"{name} must be floats [n, V], not {list(shape)} {dtype}")
                yield file, shape, dtype
        except BadInput:
            raise
        except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise BadInput(f"{name} cannot be read: {error}") from None


def _exactly(file: IO[bytes], count: int, dtype: np.dtype) -> np.ndarray:
    found = file.read(count * dtype.itemsize)
    if len(found) < count * dtype.itemsize:
        raise EOFError("it ends early")
    return np.frombuffer(found, dtype)


def spaced(numbers: np.ndarray, count: int | None) -> np.ndarray:
    """`count` of the numbers, evenly spaced; all for None or if there are not more."""
    n = len(numbers)
    return numbers[np.unique(np.linspace(0, n - 1, min(count or n, n)).round().astype(int))]


@dataclass(frozen=True)
class Accepted:
    """The mean over rows for each number of siblings, and the half width of its 95 % interval."""

    column: Column
    mean: list[float]
    half_width: list[float | None]


def measured(
    recorded: Recorded, count: int | None = None, progress: Callable[[], object] = lambda: None
) -> list[Accepted]:
    """Every column on the rows `chosen`; intervals are clustered by sequence. Raises BadInput for the rows of
    drafted trees (studies/tree_designs), which stand where a drafter went.
    """
    if "parent.npy" in recorded._zip.namelist():
        raise BadInput(f"{recorded.path}: has rows at the nodes of trees, and rows of a text are needed")
    chosen = recorded.chosen(count)
    found = []
    for number, (p, q) in enumerate(recorded.rows()):
        if number in chosen:
            rng = np.random.default_rng(number)
            found.append([column.accepted(p, q, SIBLINGS, rng) for column in COLUMNS])
            progress()
    values = np.array(found)  # [rows, columns, siblings]
    halves = half_width(values, recorded.sequence[chosen])
    return list(map(Accepted, COLUMNS, values.mean(axis=0).tolist(), halves))


def half_width(values: np.ndarray, cluster: np.ndarray) -> Any:
    """Half the width of 95 % intervals of the means over the first axis: rows of one cluster may depend on
    each other, clusters not (Student's t, one degree of freedom less than clusters). In lists, as numpy's
    `tolist` gives numbers; None in place of each for one cluster.
    """
    names, which = np.unique(cluster, return_inverse=True)
    if len(names) < 2:
        return np.full(values.shape[1:], None).tolist()
    from scipy.stats import t  # here, since other commands need no scipy to start

    off = np.zeros((len(names), *values.shape[1:]))
    np.add.at(off, which, values - values.mean(axis=0))
    variance = (off**2).sum(axis=0) * len(names) / (len(names) - 1) / len(values) ** 2
    return (t.ppf(0.975, len(names) - 1) * np.sqrt(variance)).tolist()
