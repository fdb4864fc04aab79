"""Files whose engine cannot be imported: they run as they are, with stand-ins for what is missing.

The file itself is executed, unmodified. Whatever it imports from its own engine is replaced: by
what the adapter gives, else by an empty class that accepts being called, inherited and subscripted.
Nothing of the engine runs but the one file.
"""

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from draftproof.theory.errors import BadInput


def executed(path: Path | None, engine: str, given: Mapping[str, Mapping[str, Any]]) -> ModuleType:
    """The module of the file, its imports from `engine` replaced; `given` is names by module.

    Raises BadInput when there is no such file or it cannot be executed.
    """
    if path is None:
        raise BadInput(f"this adapter needs --path, a file of {engine}")
    if not path.is_file():
        raise BadInput(f"{path}: no such file; this adapter needs a file of {engine}")
    spec = importlib.util.spec_from_file_location(f"audited_{engine}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        with _replaced(engine, given):
            spec.loader.exec_module(module)
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise BadInput(f"{path}: {type(error).__name__}: {' '.join(str(error).split())[:200]}") from None
    return module


def function(module: ModuleType, name: str) -> Any:
    """A function of an executed file; BadInput when it has none of that name."""
    if not callable(getattr(module, name, None)):
        raise BadInput(f"{module.__file__}: has no function {name}")
    return getattr(module, name)


@contextmanager
def _replaced(engine: str, given: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    def ours(name: str) -> bool:
        return name == engine or name.startswith(f"{engine}.")

    before = {name: module for name, module in sys.modules.items() if ours(name)}
    for name in before:
        del sys.modules[name]
    finder = _Finder(engine, given)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)


class _Finder(MetaPathFinder, Loader):
    def __init__(self, engine: str, given: Mapping[str, Mapping[str, Any]]):
        self.engine, self.given = engine, given

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.split(".")[0] != self.engine:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _Module(spec.name)
        vars(module).update(self.given.get(spec.name, {}))
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _empty(name)


class _Empty(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _empty(name)


def _empty(name: str) -> type:
    def call(self: Any, function: Any = None, *_: Any, **__: Any) -> Any:
        return function

    return _Empty(
        name,
        (),
        {
            "__init__": lambda self, *_, **__: None,
            "__call__": call,
            "__getattr__": lambda self, attribute: _Empty.__getattr__(type(self), attribute),
            "__class_getitem__": classmethod(lambda cls, item: cls),
        },
    )
