"""Loads what a user names by `path/to/file.py:name` or `package.module:name`."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from draftproof.simulators.support.sources import INSTALLED, Root, digest
from draftproof.theory.errors import BadInput


def source(name: str) -> Root:
    """The file or module that the object of that name is loaded from."""
    place = name.rpartition(":")[0]
    return Path(place) if place.endswith(".py") else place


def version(name: str) -> str:
    """A hash of what the object of that name is loaded from: an edited file is loaded again. Empty where
    there is no such file, which loading says, or only a compiled one.
    """
    try:
        return digest(source(name))
    except BadInput:
        return ""


def load(name: str) -> Any:
    """The object that `package.module:name` or `path/to/file.py:name` names; BadInput when there is none."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise BadInput(f"{name[:80]}: neither package.module:name nor path/to/file.py:name")
    try:
        with redirect_stdout(sys.stderr):  # standard output is the command's
            module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except BadInput:
        raise
    except (KeyboardInterrupt, GeneratorExit) as error:  # raised by the module itself
        raise BadInput(f"{name}: cannot be imported: {type(error).__name__}") from None
    except (Exception, SystemExit) as error:
        raise BadInput(f"{place}: cannot be imported: {type(error).__name__}: {error}") from None
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise BadInput(f"{place}: has no {attribute!r}")
        holder, found = found, getattr(found, part)
        if inspect.isclass(holder) and inspect.isfunction(inspect.getattr_static(holder, part)):
            raise BadInput(f"{name}: is a method; name its class, or an object's method")
    return found


_beside: list[str] = []
"""Names of the modules that the last object was loaded with from its own folder."""


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    for name in _beside:  # of a target loaded before, perhaps of the same names
        sys.modules.pop(name, None)
    folder = path.parent.resolve()
    try:
        return _loaded(folder, partial(_alone, path))
    except ImportError as error:
        if "no known parent package" not in str(error):
            raise
    parts = [path.stem]
    while len(parts) == 1 or (folder / "__init__.py").is_file():  # it is a module of a package
        parts.insert(0, folder.name)
        folder = folder.parent
    return _loaded(folder, partial(importlib.import_module, ".".join(parts)))


def _alone(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if sys.modules.get(path.stem) is module:
            del sys.modules[path.stem]
        raise
    return module


def _loaded(folder: Path, imported: Callable[[], Any]) -> Any:
    # The module, imported while `folder` is searched first.
    before, writes = {*sys.modules}, sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # Python would take a file edited within the same second for the old one
    importlib.invalidate_caches()
    try:
        return imported()
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes
        _beside[:] = [name for name in {*sys.modules} - before if _is_beside(name, folder)]


def _is_beside(name: str, folder: Path) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    if file is None or name.split(".")[0] == "draftproof" or INSTALLED & {*Path(file).parts}:
        return False
    return Path(file).resolve().is_relative_to(folder)
