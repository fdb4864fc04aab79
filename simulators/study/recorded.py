"""Rows of a target and a drafter that somebody recorded, one position after another, and what they accept.

A file of numpy's, made by `np.savez` or `np.savez_compressed`: `target` and `proposal` [n, V], float16 to
float64, and perhaps `sequence` [n], which says which rows belong together.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.study.designs import COLUMNS, SIBLINGS, Column
from draftproof.simulators.support.files import unusable
from draftproof.theory.errors import BadInput, located

ARRAYS = "target", "proposal", "sequence"
OFF = 0.02
"""How far a row's sum may be from 1: float16 rows of 150,000 tokens lose that much. It is normalised."""


class Recorded:
    """A file's rows, with its `shape` and `sequence` (row numbers where the file has none); `of_trees` says
    that they stand at the nodes of trees.

    Raises BadInput that names the file and the fault.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            with zipfile.ZipFile(path), np.load(path) as arrays:
                found = {name: arrays[name] for name in ARRAYS if name in arrays}
                self.of_trees = "parent" in arrays
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, OSError) and error.errno:
                raise unusable(path, error) from None
            raise BadInput(f"{path}: cannot be read as .npz: {error}") from None
        with located(path):
            for name in ARRAYS[:2]:
                if name not in found:
                    raise BadInput(f"has no array {name!r}")
                if found[name].ndim != 2 or found[name].dtype.kind != "f":
                    shape = list(found[name].shape)
                    raise BadInput(f"{name} must be floats [n, V], not {shape} {found[name].dtype}")
            self.target, self.proposal = (found[name] for name in ARRAYS[:2])
            n, vocab = self.shape = self.target.shape
            if self.proposal.shape != self.shape:
                raise BadInput(f"target is {[n, vocab]}, proposal {list(self.proposal.shape)}")
            if not n or vocab < 2:
                raise BadInput(f"target has {n} rows of {vocab} tokens")
            self.sequence = found.get("sequence", np.arange(n))
            if self.sequence.shape != (n,) or self.sequence.dtype.kind not in "iu":
                raise BadInput(f"sequence must be {n} whole numbers")

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pairs (p, q) in order, float64 and normalised."""
        for number, (p, q) in enumerate(zip(self.target, self.proposal, strict=True)):
            yield self._row(number, "target", p), self._row(number, "proposal", q)

    def chosen(self, count: int | None) -> np.ndarray:
        """The numbers of `count` rows, evenly spaced; of all for None or if there are not more."""
        return spaced(np.arange(self.shape[0]), count)

    def _row(self, number: int, name: str, given: np.ndarray) -> np.ndarray:
        row = given.astype(float)
        mass = row.sum()
        if not row.min() >= 0 or not abs(mass - 1) <= OFF:
            fault = f"sums to {mass:.4g}, not 1" if row.min() >= 0 else "is not non-negative numbers"
            raise BadInput(f"{self.path}: {name}: row {number} {fault}")
        return row / mass


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
    if recorded.of_trees:
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
