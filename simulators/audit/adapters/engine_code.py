"""Code of engines that cannot be imported as a whole: one function's text, or one file, runs by itself.

Serving engines import many packages at the top of a file. What is audited is their own text, unmodified:
a function in a namespace with the few names that it uses, or a whole file, of which whatever it imports
from its own engine is replaced by what the adapter gives, else by an empty class that accepts being
called, inherited and subscripted. The function is then audited as a `TorchChain`.
"""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.targets import Arrays, Function
from draftproof.simulators.files import text_of
from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.table import Rows


class TorchChain(Function):
    """verify(target, draft, tokens) in torch tensors; with `logits` the rows are logarithms.

    Target logits are shifted by a constant, as real models' are: equal laws then differ in the
    last bit, which is where a residual vanishes by rounding.
    """

    def __init__(self, verify: Callable[..., Any], *, name: str, logits: bool = False, slow: bool = False):
        super().__init__(verify, name=name, dtype="float32", tensors=True)
        self.logits, self.slow, self.adapter = logits, slow, name.split(" ")[0]

    def prepare(self, target: Rows, draft: Draft) -> Arrays:
        p, q, x = super().prepare(target, draft)
        if self.logits:
            with np.errstate(divide="ignore"):
                p, q = (np.log(p) + np.float32(SHIFT)).astype(p.dtype), np.log(q).astype(q.dtype)
        return p, q, x


def with_bonus(words: Any, row: Any) -> Any:
    """The emitted tokens, without padding of -1; an id V at the end stands for a draw from the row."""
    import torch

    words = words[words >= 0]
    if int(words[-1]) < len(row):
        return words
    return torch.cat([words[:-1].long(), torch.multinomial(row, 1)])


def by_name(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """The function called with those of the given arguments that it has parameters for."""
    return function(**{name: given[name] for name in inspect.signature(function).parameters if name in given})


def functions(path: Path | None, names: tuple[str, ...], namespace: dict[str, Any]) -> dict[str, Any]:
    """The namespace after the top-level functions `names` of a file were defined in it.

    Tabs are read as four spaces where a file mixes them. Functions that the file lacks are left
    out; raises BadInput when it has none of them, or cannot be read.
    """
    if path is None:
        raise BadInput("this adapter needs --path, the file that has the function")
    text = text_of(path)
    bodies = (rf"^def {re.escape(name)}\(.*?(?=^[^\s#)]|\Z)" for name in names)
    matches = (re.search(body, text, re.MULTILINE | re.DOTALL) for body in bodies)
    found = {name: match[0] for name, match in zip(names, matches, strict=True) if match}
    if not found:
        raise BadInput(f"{path}: has none of the functions {', '.join(names)}")
    for name, body in found.items():
        try:
            exec(compile(body.expandtabs(4), f"{path}:{name}", "exec"), namespace)
        except Exception as error:
            raise BadInput(f"{path}: {name} cannot be compiled: {error}") from None
    return namespace


def function_of(
    path: Path | None, engine: str, name: str, given: Mapping[str, Mapping[str, Any]] | None = None
) -> Any:
    """A function of a file that is executed with its imports from `engine` replaced by names of `given`.

    Raises BadInput when there is no such file, it cannot be executed, or it has no function of that name.
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
        with _replaced(engine, given or {}):
            spec.loader.exec_module(module)
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise BadInput(f"{path}: {type(error).__name__}: {' '.join(str(error).split())[:200]}") from None
    if not callable(getattr(module, name, None)):
        raise BadInput(f"{module.__file__}: has no function {name}")
    return getattr(module, name)


@contextmanager
def _replaced(engine: str, given: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    def remove() -> dict[str, ModuleType]:
        names = [name for name in sys.modules if name == engine or name.startswith(f"{engine}.")]
        return {name: sys.modules.pop(name) for name in names}

    before = remove()
    finder = _Finder(engine, given)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        remove()
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

    def exec_module(self, module: ModuleType) -> None: ...


class _Anything:
    def __getattr__(self, name: str) -> Any:
        return _empty(name)


class _Module(_Anything, ModuleType): ...


class _Empty(_Anything, type): ...


def _empty(name: str) -> type:
    # A class that accepts everything; as a decorator it returns what it decorates.
    if name.startswith("__"):
        raise AttributeError(name)
    return _Empty(
        name,
        (),
        {
            "__init__": lambda self, *_, **__: None,
            "__call__": lambda self, function=None, *_, **__: function,
            "__getattr__": lambda self, attribute: _empty(attribute),
            "__class_getitem__": classmethod(lambda cls, item: cls),
        },
    )
