"""Loads the target that a command line names."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters import ADAPTERS, TAKEN, adapted
from draftproof.simulators.audit.sandbox import Observer
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.audit.targets.loops import Loop
from draftproof.simulators.audit.targets.programs import ForeignProgram
from draftproof.simulators.audit.targets.selection import Selection
from draftproof.simulators.audit.targets.signatures import infer_signature
from draftproof.simulators.audit.targets.trees import Tree
from draftproof.simulators.support.load import load as loaded
from draftproof.simulators.support.load import source as source_of
from draftproof.simulators.support.sources import Root
from draftproof.theory.errors import BadInput

STYLES = {"verify": infer_signature, "loop": Loop, "selection": Selection, "tree": Tree}
"""What a function of the user does: it verifies one draft, generates text, or selects tokens of a batch."""


def target(
    named: str | Callable[..., Any],
    path: Path | None = None,
    dtype: str | None = None,
    style: str = "verify",
    roles: str | None = None,
    observer: Observer | None = None,
) -> Target:
    """The target of that name: an adapter, also by the name of its function, or the function that `load`
    finds, or that is given, of a style of STYLES; `roles` are those of its parameters, where their names do
    not say them. With the style "exec" the name is the command of a program. A function is called a few
    times, after `observer` was told that it is loaded.
    """
    name = named if isinstance(named, str) else ""
    if style == "exec":
        return ForeignProgram(name, dtype=dtype)
    if name in ADAPTERS:
        return adapted(name, path, dtype)
    known = None if roles or style != "verify" else taken(name)
    if known is not None:
        return adapted(*known, dtype)
    found = load(named) if isinstance(named, str) else named
    if style == "verify":
        if observer is not None:
            observer.loaded()
        made: Target = infer_signature(found, name=name, dtype=dtype, given=roles, observer=observer)
    else:
        made = STYLES[style](found, name=name, dtype=dtype)
    if name:
        made.loaded = {"name": name, "dtype": dtype, "signature": roles}
    return made


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
    return ADAPTERS[name].__module__ if name in ADAPTERS else source_of(name)


def load(name: str) -> Any:
    """The function that `package.module:name` or `path/to/file.py:name` names; BadInput if there is none."""
    if ":" not in name:
        ways = "package.module:function, path/to/file.py:function, or one of"
        raise BadInput(f"{name[:80]}: not {ways} {', '.join(ADAPTERS)}")
    found = loaded(name)
    if not callable(found):
        raise BadInput(f"{name}: is not a function")
    return found
