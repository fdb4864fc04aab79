"""What a foreign function returned, read as tokens."""

from reprlib import repr
from typing import Any

import numpy as np

from draftproof.simulators.audit.door import Fault
from draftproof.theory.rows import Prefix


def emitted(result: Any, vocab: int, most: int) -> Prefix:
    """What the function returned as token ids; a Fault when it is anything else."""
    try:
        values = np.asarray(result.detach().cpu() if hasattr(result, "detach") else result)
    except Exception:
        values = np.array(None)
    if values.ndim == 2 and values.shape[0] == 1:
        values = values[0]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise Fault("returns garbage", f"{_brief(result)} is not a list of token ids")
    if not 1 <= len(values) <= most:
        raise Fault("returns garbage", f"{len(values)} tokens, not 1 to {most}")
    tokens = tuple(values.tolist())
    for token in tokens:
        if not 0 <= token < vocab:
            raise Fault("leaves the vocabulary", f"token id {token}, vocabulary {vocab}")
    return tokens


def _brief(result: Any) -> str:
    plain = isinstance(result, list | tuple | str | int | float | None)
    return repr(result) if plain else f"a {type(result).__name__}"
