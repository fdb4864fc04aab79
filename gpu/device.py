"""The device that a run is asked for: whether it can be used, its name, waiting for it."""

from textwrap import shorten

import torch

from draftproof.theory.errors import BadInput


def usable(name: torch.device | str | None = None) -> torch.device:
    """The device of that name, or the GPU where there is one; BadInput where torch cannot compute on it.

    >>> usable("cpu")
    device(type='cpu')
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tried = torch.zeros(1, device=name)
        tried.tolist()  # "meta" has no numbers
    except (RuntimeError, AssertionError) as error:
        said = shorten(str(error).splitlines()[0], 120, placeholder=" ...")
        raise BadInput(f"--device {name}: {said}") from None
    return tried.device


def described(device: torch.device) -> str:
    """The device in words.

    >>> described(torch.device("cpu")).startswith("CPU, ")
    True
    """
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {torch.get_num_threads()} threads"


def wait(device: torch.device) -> None:
    """Until a GPU has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
