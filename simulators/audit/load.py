"""Loads the target that a command line names."""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters import ADAPTERS, TAKEN, adapted
from draftproof.simulators.audit.foreign import ForeignProgram
from draftproof.simulators.audit.functions import Tree
from draftproof.simulators.audit.loops import Loop
from draftproof.simulators.audit.sandbox import Observer
from draftproof.simulators.audit.selection import Selection
from draftproof.simulators.audit.spelling import natural
from draftproof.simulators.audit.targets import Target
from draftproof.simulators.sources import INSTALLED, Root
from draftproof.theory.errors import BadInput

STYLES = {"verify": natural, "loop": Loop, "selection": Selection, "tree": Tree}
"""What a function of the user does: it verifies one draft, generates text, or selects tokens of a batch."""


def target(
    name: str,
    path: Path | None = None,
    dtype: str | None = None,
    style: str = "verify",
    roles: str | None = None,
    observer: Observer | None = None,
) -> Target:
    """The target of that name: an adapter, also by the name of its function, or the function that `load`
    finds, of a style of STYLES; `roles` are those of its parameters, where their names do not say them. With
    the style "exec" the name is the command of a program. A function is called a few times, after `observer`
    was told that it is loaded.
    """
    if style == "exec":
        return ForeignProgram(name, dtype=dtype)
    if name in ADAPTERS:
        return adapted(name, path, dtype)
    known = None if roles or style != "verify" else taken(name)
    if known is not None:
        return adapted(*known, dtype)
    if style == "verify":
        found = load(name)
        if observer is not None:
            observer.loaded()
        return natural(found, name=name, dtype=dtype, given=roles, observer=observer)
    return STYLES[style](load(name), name=name, dtype=dtype)


def taken(name: str) -> tuple[str, Path | None] | None:
    """The adapter, and its file, of a function given by its own module or file; None for other functions.

    >>> taken("transformers.generation.utils:_speculative_sampling")
    ('transformers', None)
    """
    place, _, function = name.rpartition(":")
    for known, adapter in TAKEN.items():
        module, _, attribute = known.partition(":")
        if function != attribute:
            continue
        if place == module:
            if adapter == "transformers":
                return adapter, None
            spec = importlib.util.find_spec(module.partition(".")[0])
            for folder in (spec and spec.submodule_search_locations) or ():
                return adapter, Path(folder).parent / f"{module.replace('.', '/')}.py"
        if Path(place).as_posix().endswith(f"{module.replace('.', '/')}.py"):
            return adapter, Path(place)
    return None


def source(name: str) -> Root:
    """The file or module that the target of that name is loaded from."""
    place = ADAPTERS[name].__module__ if name in ADAPTERS else name.rpartition(":")[0]
    return Path(place) if place.endswith(".py") else place


def load(name: str) -> Any:
    """The object that `package.module:name` or `path/to/file.py:name` names; BadInput when there is none."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        ways = "package.module:function, path/to/file.py:function, or one of"
        raise BadInput(f"{name[:80]}: not {ways} {', '.join(ADAPTERS)}")
    try:
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
    if not callable(found):
        raise BadInput(f"{name}: is not a function")
    return found


_beside: list[str] = []
"""Names of the modules that the last target loaded from its own folder."""


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = path.parent.resolve()
    for name in _beside:  # of a target loaded before, perhaps of the same names
        sys.modules.pop(name, None)
    before, writes = {*sys.modules}, sys.dont_write_bytecode
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # Python would take a file edited within the same second for the old one
    importlib.invalidate_caches()
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
        sys.dont_write_bytecode = writes
        _beside[:] = [name for name in {*sys.modules} - before if _is_beside(name, folder)]
    return module


def _is_beside(name: str, folder: Path) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    if file is None or name.split(".")[0] == "draftproof" or INSTALLED & {*Path(file).parts}:
        return False
    return Path(file).resolve().is_relative_to(folder)
