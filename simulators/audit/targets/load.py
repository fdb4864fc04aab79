"""Finding the function that a command line names."""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters import ADAPTERS
from draftproof.theory.errors import BadInput


def load(target: str) -> Any:
    """The object that `package.module:name` or `path/to/file.py:name` names; BadInput when there is none."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise BadInput(
            f"{target[:80]}: not package.module:function, path/to/file.py:function, "
            f"or one of {', '.join(ADAPTERS)}"
        )
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{place}: cannot be imported: {type(error).__name__}: {error}") from None
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"{place}: has no {name!r}")
        holder, found = found, getattr(found, part)
        if inspect.isclass(holder) and inspect.isfunction(inspect.getattr_static(holder, part)):
            raise BadInput(f"{target}: is a method; name its class, or an object's method")
    if not callable(found):
        raise BadInput(f"{target}: is not a function")
    return found


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module
