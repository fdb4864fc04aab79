"""Triton kernels under TRITON_INTERPRET=1: coins are followed through them, as through torch.

Triton's interpreter computes in numpy. Loads from a tensor of coins give the coins themselves, as
arrays of objects (`memory.py`), and the interpreter's arithmetic is taught to let them pass
(`arithmetic.py`); comparisons and arg-extrema then decide, exactly as everywhere else. So a kernel
is enumerated in as many runs as its choices have outcomes, and an exponential race inside it has
its exact law. The patches are on while a foreign function runs (`interpreter.py`), and only then.

Written for the interpreter of Triton 3.6 to 3.9; an older one is not touched, and coins that reach it
are read by bisection. A coin keeps the float type it was drawn in when a kernel casts it: its
threshold is then off by a rounding of the narrower type at most.
"""

from draftproof.simulators.audit.randomness.triton_mode.interpreter import following

__all__ = ["following"]
