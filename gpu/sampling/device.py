"""The device of a run: selecting it, naming it, waiting for it, its memory; and errors of others' code."""

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

import torch

from draftproof.theory.errors import BadInput

OUT_OF_MEMORY = "can't allocate memory", "not enough memory", "out of memory", "STATUS_ALLOC_FAILED"


def usable(name: torch.device | str | None = None) -> torch.device:
    """The device of that name (default: the GPU if there is one); BadInput if torch cannot compute on it."""
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    if name in ("auto", "balanced", "sequential") or "," in str(name):
        raise BadInput(f"--device {name}: name one device; models are not split over several")
    try:
        tried = torch.zeros(1, device=name)
        tried.tolist()  # fails on "meta", which holds no numbers
    except (RuntimeError, AssertionError) as error:
        reason = shorten(str(error).splitlines()[0], 120, placeholder=" ...")
        raise BadInput(f"--device {name}: {reason}") from None
    return tried.device


def described(device: torch.device) -> str:
    """The device's name for people."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {torch.get_num_threads()} threads"


def wait(device: torch.device) -> None:
    """Waits until a GPU has finished its queued work; does nothing on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def looks(tensor: torch.Tensor) -> bool:
    """Whether the host may look at a tensor's numbers, without waiting for a GPU or ending a graph."""
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def out_of_memory(error: BaseException) -> bool:
    """Whether torch, CUDA or Triton raised this error because memory ran out, on any device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY)


@contextmanager
def memory_errors(advice: str) -> Iterator[None]:
    """Turns an out-of-memory error into BadInput with this advice."""
    try:
        yield
        return
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
    raise BadInput(f"out of memory; {advice}")


MESSAGE = 400
"""Most characters of another library's message in an error line."""


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Turns any error that a model's, a template's or a processor's own code raises into BadInput of one
    line, except that memory ran out.
    """
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        if out_of_memory(error):
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{what}: {said[:MESSAGE]}{'...' * (len(said) > MESSAGE)}") from None
