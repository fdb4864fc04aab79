"""What a node accepts, on arrays: one function for exact rationals (dtype object) and for float64."""

from collections.abc import Iterator

import numpy as np


def specinfer(p: np.ndarray, q: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """The masses [V] accepted as each i.i.d. child: min(p_j, q) times the probability that earlier children
    were rejected, with p_{j+1} = norm((p_j - q)+).

    >>> from flint import fmpq
    >>> p, q = np.array([fmpq(1, 3), fmpq(2, 3)]), np.array([fmpq(2, 3), fmpq(1, 3)])
    >>> [list(kept) for kept in specinfer(p, q, 2)]
    [[1/3, 1/3], [0, 1/9]]
    """
    reach = 1
    for _ in range(count):
        kept = np.minimum(p, q)
        yield reach * kept
        over = p - kept
        left = over.sum()
        reach = reach * left
        p = over / left if left > 0 else p
