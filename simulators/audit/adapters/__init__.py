"""The adapter for an engine of Python, transformers: version, signature, what is checked.

Come here if a release has moved its function. `engine_code` runs one function of an engine that cannot be
imported; `studies/field` has engines of which whole files are run. No code is copied.
"""

from pathlib import Path

from draftproof.simulators.audit.adapters.transformers import ADAPTERS
from draftproof.simulators.audit.targets.functions import Function
from draftproof.theory.errors import BadInput, unknown


def adapted(name: str, path: Path | None = None, dtype: str | None = None) -> Function:
    """The target that an adapter makes from the installed package, or from the file or folder at `path`.

    With `dtype` it gets rows of that type instead of float32, and PyTorch functions compute in that type.
    """
    if name not in ADAPTERS:
        raise unknown("adapter", name, ADAPTERS)
    try:
        target = ADAPTERS[name](path)
    except ModuleNotFoundError as error:
        raise BadInput(f"{name} needs {error.name}, which is not installed") from None
    target.adapter, target.dtype = name, dtype or target.dtype
    target.loaded = {"name": name, "path": path, "dtype": dtype}
    return target
