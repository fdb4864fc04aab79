"""Running out of memory, said in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from theory.errors import BadInput


@contextmanager
def memory_errors(advice: str) -> Iterator[None]:
    """Turns what torch raises when memory is out, on any device, into BadInput with a piece of advice."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError):
        pass
    except RuntimeError as error:
        if "can't allocate memory" not in str(error) and "not enough memory" not in str(error):
            raise
    else:
        return
    raise BadInput(f"out of memory; {advice}")
