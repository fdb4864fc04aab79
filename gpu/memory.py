"""Running out of memory, said in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from draftproof.theory.errors import BadInput

SAID = "can't allocate memory", "not enough memory", "out of memory", "STATUS_ALLOC_FAILED"


def out_of_memory(error: BaseException) -> bool:
    """Whether this is what torch, CUDA or Triton raises when memory is out, on any device.

    >>> out_of_memory(RuntimeError("Triton Error [CUDA]: out of memory")), out_of_memory(RuntimeError("no"))
    (True, False)
    >>> out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"))
    True
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(said in str(error) for said in SAID)


@contextmanager
def memory_errors(advice: str) -> Iterator[None]:
    """Turns such an error into BadInput with a piece of advice."""
    try:
        yield
        return
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
    raise BadInput(f"out of memory; {advice}")
