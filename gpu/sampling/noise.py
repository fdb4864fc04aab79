"""Uniform numbers of 53 bits, by key, position in a text, and place among the numbers of a step.

Number j is made of word j % 4 of the Philox block with the counter (1 + j // 4, position, 0, 0): numpy's own
stream from the counter (0, position, 0, 0) on. `gpu.kernels.noise` computes the same numbers on a GPU.
"""

import numpy as np


def key(seed: int, stream: int) -> np.ndarray:
    """Philox's key, two words, of a seed and a stream, both from 0 on."""
    return np.random.SeedSequence((seed, stream)).generate_state(2, np.uint64)


def uniforms(key: np.ndarray, position: int, count: int) -> np.ndarray:
    """[count] float64: the first numbers at a position, multiples of 2^-53.

    >>> uniforms(key(0, 0), 5, 2).tolist() == uniforms(key(0, 0), 5, 3)[:2].tolist()
    True
    """
    return np.random.Generator(np.random.Philox(key=key, counter=(0, position, 0, 0))).random(count)
