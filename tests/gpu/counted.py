"""The exact law of a draw from its grid of uniforms: the numbers that give each token, found by bisection.

A draw must be monotone: a larger uniform never gives a smaller token.
"""

from collections.abc import Callable

import numpy as np
from flint import fmpq

V = 151_936
WORD = 53
"""Bits of a uniform: k 2^-53 for every k below 2^53."""

KINDS = "flat", "zipf in any order", "normal", "zipf", "peaked", "many tiny tokens", "far from zero"


def logits(kind: str) -> np.ndarray:
    """A float32 row that is hard for a draw."""
    random, rank = np.random.default_rng(0), np.arange(1.0, V + 1)
    made = {
        "flat": np.zeros(V),
        "zipf in any order": -1.2 * np.log(random.permutation(rank)),
        "normal": 3 * random.normal(size=V),
        "zipf": -1.2 * np.log(rank),
        "peaked": np.where(rank == 1, 25.0, random.normal(size=V)),
        "many tiny tokens": np.where(rank <= 10, 12.0, np.log(1e-3 + random.random(V))),
        "far from zero": 300 + 8 * random.normal(size=V),
    }
    return made[kind].astype(np.float32)


def counts(draw: Callable[[np.ndarray], np.ndarray], vocab: int, bits: int = WORD) -> np.ndarray:
    """[vocab] integers that sum to 2^bits: how many of the uniforms k 2^-bits give each token."""
    low, high = np.zeros(vocab, np.int64), np.full(vocab, 1 << bits)  # where the first beyond each token lies
    token = np.arange(vocab)
    while (low < high).any():
        middle = (low + high) // 2
        beyond = (low == high) | (draw(middle * 0.5**bits) > token)
        low, high = np.where(beyond, low, middle + 1), np.where(beyond, middle, high)
    ends = low[(low > 0) & (low < 1 << bits)]
    assert (draw((ends - 1) * 0.5**bits) < draw(ends * 0.5**bits)).all()
    return np.diff(low, prepend=0)


def apart(found: np.ndarray, row: np.ndarray) -> float:
    """The total variation between counts and a row of floats, as an exact sum; neither need sum to 1."""
    masses = [fmpq(*float(mass).as_integer_ratio()) for mass in row]
    whole, total = sum(masses, fmpq(0)), fmpq(int(found.sum()))
    pairs = zip(masses, found.tolist(), strict=True)
    return float(sum((abs(mass / whole - count / total) for mass, count in pairs), fmpq(0)) / 2)
