"""What the studies of engines share: functions and methods cut out of a file, and a whole file of an engine
that is not installed.

The audited source text is theirs, unmodified. Names that a file imports from its own engine are replaced by
stand-ins, or else by an empty class that can be called, inherited from and subscripted.
"""

import __future__

import ast
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from clones import clone

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.targets.base import Arrays
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.support.files import text_of
from draftproof.simulators.support.load import load
from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.table import Rows


class TorchChain(Function):
    """verify(target, draft, tokens) in torch tensors; with `logits` the rows are logarithms.

    Target logits are shifted by a constant, as in real models: equal laws then differ in the last bit, so
    that a residual may vanish by rounding.
    """

    def __init__(self, verify: Callable[..., Any], *, name: str, logits: bool = False, slow: bool = False):
        super().__init__(verify, name=name, dtype="float32", tensors=True)
        self.logits, self.slow = logits, slow

    def prepare(self, target: Rows, draft: Draft) -> Arrays:
        p, q, x = super().prepare(target, draft)
        if self.logits:
            with np.errstate(divide="ignore"):
                p, q = (np.log(p) + np.float32(SHIFT)).astype(p.dtype), np.log(q).astype(q.dtype)
        return p, q, x


class Code(SimpleNamespace):
    """The names of a file; BadInput for one that it lacks."""

    def __getattr__(self, name: str) -> Any:
        raise BadInput(f"{self.__file__}: has no function {name}")


def theirs(project: str, file: str) -> Code:
    """The names of a file in a project's clone, as the audit loads it: what it imports may be absent."""
    return Code(**load(f"{clone(project, file)}:__dict__", piecewise=True))


def interpreted() -> Any:
    """The module `triton` in interpreter mode; BadInput if it was already imported in another mode."""
    os.environ["TRITON_INTERPRET"] = "1"
    import triton
    import triton.language as tl

    if not type(tl.sum).__name__.startswith("Interpreted"):
        raise BadInput("triton was imported before: set TRITON_INTERPRET=1 in the environment")
    return triton


def with_bonus(words: Any, row: Any) -> Any:
    """The emitted tokens without the padding of -1; an id V at the end stands for a draw from `row`."""
    import torch

    words = words[words >= 0]
    if int(words[-1]) < len(row):
        return words
    return torch.cat([words[:-1].long(), torch.multinomial(row, 1)])


def by_name(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Calls the function with those of the given arguments that it has parameters for."""
    return function(**{name: given[name] for name in inspect.signature(function).parameters if name in given})


def functions(path: Path, names: tuple[str, ...], namespace: dict[str, Any]) -> dict[str, Any]:
    """Defines the top-level functions `names` of a file, without their decorators, in the namespace, which it
    returns. Tabs are read as four spaces. Functions that the file lacks are
    skipped. Raises BadInput if it has none of them, or cannot be read.
    """
    text, found = text_of(path).expandtabs(4), []
    with suppress(SyntaxError):
        found = [each for each in ast.parse(text).body if getattr(each, "name", "") in names]
    if not found:
        raise BadInput(f"{path}: has none of the functions {', '.join(names)}")
    for each in found:
        each.decorator_list = []
    define(path, found[0].name, ast.Module(found, []), namespace)
    return namespace


def define(path: Path, name: str, body: Any, namespace: dict[str, Any]) -> None:
    """Defines what the body, text or syntax tree, of that name in a file defines, in the namespace."""
    flags = __future__.annotations.compiler_flag if isinstance(body, ast.Module) else 0
    try:
        exec(compile(body, f"{path}:{name}", "exec", flags), namespace)
    except Exception as error:
        raise BadInput(f"{path}: {name} cannot be compiled: {error}") from None


def methods(
    path: Path, owner: str | None, names: Sequence[str], namespace: dict[str, Any] | None = None
) -> SimpleNamespace:
    """The methods `names` of a class in a file, as functions: of the class `owner`, or if it is not given of
    the first class that has them. Their decorators are left out, and their annotations are not read. They
    are defined in the namespace, which holds the other names that they use. Raises BadInput if the file lacks
    one of them, or cannot be read.
    """
    try:
        tree = ast.parse(text_of(path))
    except SyntaxError as error:
        raise BadInput(f"{path}: cannot be read as Python: {error}") from None
    classes = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    bodies = [kind.body for kind in reversed(classes) if owner in (None, kind.name)]
    found = {each.name: each for body in bodies for each in body if isinstance(each, ast.FunctionDef)}
    lacks = [name for name in names if name not in found]
    if lacks:
        raise BadInput(f"{path}: has no method {' or '.join(lacks)}{(owner and f' of {owner}') or ''}")
    namespace = {} if namespace is None else namespace
    for name in names:
        found[name].decorator_list = []
        define(path, name, ast.Module([found[name]], []), namespace)
    return SimpleNamespace(**{name: namespace[name] for name in names})


def method(path: Path, name: str, namespace: dict[str, Any]) -> Any:
    """The first method of that name in a file, as `methods` gives it."""
    return getattr(methods(path, None, (name,), namespace), name)


def function_of(
    path: Path, engine: str, name: str, given: Mapping[str, Mapping[str, Any]] | None = None
) -> Any:
    """A function of a file, executed with its imports from `engine`, and from the packages of the modules in
    `given`, replaced by the names that `given` has for a module, else by empty classes.

    Raises BadInput if the file is missing, cannot be executed, or has no function of that name.
    """
    if not path.is_file():
        raise BadInput(f"{path}: no such file of {engine}")
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
        names = [name for name in sys.modules if name.split(".")[0] in packages]
        return {name: sys.modules.pop(name) for name in names}

    packages = {engine, *(name.split(".")[0] for name in given)}
    before = remove()
    finder = _Finder(packages, given)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        remove()
        sys.modules.update(before)


class _Finder(MetaPathFinder, Loader):
    def __init__(self, packages: set[str], given: Mapping[str, Mapping[str, Any]]):
        self.packages, self.given = packages, given

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.split(".")[0] not in self.packages:
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
    # A class that accepts any arguments; as a decorator it returns the decorated function.
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
