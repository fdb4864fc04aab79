"""Adapters for verifiers in use, one small file per code base: version, signature, what is checked.

Come here if an engine is to be audited, or a release has moved its function. `engine_code` runs one
function of an engine that cannot be imported; `studies/field` has engines of which whole files are run.

No code is copied: an adapter loads the function from the user's installation. Every file has `TARGETS`:
name -> function of a path (or None) that returns a target for `audit.examine`.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from draftproof.simulators.audit.targets.functions import Function
from draftproof.theory.errors import BadInput, unknown

ADAPTERS: dict[str, Callable[[Path | None], Function]] = dict(
    sorted(
        target
        for found in iter_modules(__path__)
        for target in getattr(import_module(f"{__name__}.{found.name}"), "TARGETS", {}).items()
    )
)


def adapted(name: str, path: Path | None = None, dtype: str | None = None) -> Function:
    """The target that an adapter makes from the installed package, or from the file or folder at `path`.

    With `dtype` it gets rows of that type instead of float32, and PyTorch functions compute in that type.
    Kernels do not, and raise BadInput.
    """
    if name not in ADAPTERS:
        raise unknown("adapter", name, ADAPTERS)
    try:
        target = ADAPTERS[name](path)
    except ModuleNotFoundError as error:
        raise BadInput(f"{name} needs {error.name}, which is not installed") from None
    if dtype is not None and target.slow:
        raise BadInput(f"{name} is a kernel and always computes in {target.dtype}")
    target.adapter, target.dtype = name, dtype or target.dtype
    target.loaded = {"name": name, "path": path, "dtype": dtype}
    return target
