"""The device that a run is asked for."""

from textwrap import shorten

import torch

from theory.errors import BadInput


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
