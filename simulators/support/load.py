"""Loads what a user names by `path/to/file.py:name` or `package.module:name`."""

import __future__

import ast
import builtins
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout, suppress
from functools import partial, wraps
from hashlib import sha256
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any, TypeVar

from draftproof.theory.errors import BadInput

Made = TypeVar("Made")

INSTALLED = {"site-packages", "dist-packages"}

_read: dict[str, set[Path]] = {}
"""File or module -> the files that were read when something was loaded from it, but installed packages'."""


def version(name: str) -> str:
    """A hash of the files that the object of that name was loaded from: its own, and those it imported."""
    return digest(_read.get(_where(name), ()))


def _where(name: str) -> str:
    place = name.rpartition(":")[0]
    return str(Path(place).resolve()) if place.endswith(".py") else place


def digest(files: Iterable[Path]) -> str:
    """A hash of the files' text; a file that is gone counts as empty."""
    whole = sha256()
    for file in sorted(files):
        whole.update(sha256(file.read_bytes() if file.is_file() else b"").digest())
    return whole.hexdigest()


def remembered(make: Callable[[str], Made]) -> Callable[[str], Made]:
    """What `make` loads by its name, made again only when a file that it was loaded from has changed."""
    kept: dict[tuple[str, str], tuple[str, Made]] = {}

    @wraps(make)
    def made(name: str) -> Made:
        key = name, _where(name)
        if key not in kept or kept[key][0] != version(name):
            found = make(name)
            kept[key] = version(name), found
        return kept[key][1]

    return made


def load(name: str, piecewise: bool = False) -> Any:
    """The object that `package.module:name` or `path/to/file.py:name` names; BadInput when there is none. A
    method, named as `Class.method`, is that of an object made without arguments, or else without __init__.
    With `piecewise` a file may import what is absent: what it lacks raises ImportError where it is used.
    """
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise BadInput(f"{name[:80]}: neither package.module:name nor path/to/file.py:name")
    try:
        before = {*sys.modules} - {*_beside}
        with redirect_stdout(sys.stderr):  # standard output is the command's
            module = _module(place, attribute.partition(".")[0] if piecewise else "")
        _read[_where(name)] = {
            *map(Path, filter(None, [module.__file__])),
            *_own_files({*sys.modules} - before),
        }
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
            found = getattr(_object_of(holder), part)
    written = uncompiled(found)
    bound = inspect.ismethod(found) and written is not found
    return MethodType(written, found.__self__) if bound else written


def in_full(name: str) -> str:
    """The name, with that of its only function where it names a file; BadInput if a file has several."""
    path, found = Path(name), []
    if path.suffix == ".py" and path.is_file():
        with suppress(SyntaxError, ValueError):
            body = ast.parse(path.read_bytes()).body
            found = [each.name for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    if len(found) > 1:
        raise BadInput(f"{name}: name one of {', '.join(found)[:300]}, as {name}:{found[-1]}")
    return f"{name}:{found[0]}" if found else name


def uncompiled(function: Any) -> Any:
    """The Python function that torch.compile or numba compiles, whose draws can be followed; else itself."""
    for compiled in ("_torchdynamo_orig_callable", "py_func"):
        written = getattr(function, compiled, None)
        if inspect.isfunction(written):
            return written
    return function


def _object_of(holder: type) -> Any:
    for make in (holder, partial(object.__new__, holder)):  # without its attributes: a call's error names one
        with suppress(Exception):
            return make()
    raise BadInput(f"{holder.__name__}: no object of it can be made; name a method of one")


_beside: list[str] = []
"""Names of the modules that the last object was loaded with from its own folder."""


def _by_name(module: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last: an installed module of that name comes first
    return importlib.import_module(module)


def _module(place: str, wanted: str) -> Any:
    # Of a file, of which a name is wanted, imports that fail need not matter.
    if not place.endswith(".py"):
        return _by_name(place)
    path = Path(place)
    try:
        return _from_file(path)
    except ImportError:
        module = _loaded(path.parent.resolve(), partial(_piecewise, path)) if wanted else None
        if not hasattr(module, wanted):
            raise
        return module


class _Names(dict[Any, Any]):
    """The built-in names, and (name,) -> the error of the import that lacks it, raised where it is used."""

    def __missing__(self, name: str) -> Any:
        raise self.get((name,)) or self.get(("*",)) or KeyError(name)


def _piecewise(path: Path) -> Any:
    # The module of a file of which each statement runs for itself, and fails for itself.
    module, names, flags = ModuleType(path.stem), _Names(vars(builtins)), __future__.annotations.compiler_flag
    sys.modules.setdefault(path.stem, module)
    vars(module).update(__file__=str(path), __package__="", __builtins__=names)
    for statement in ast.parse(path.read_bytes(), str(path)).body:
        try:
            exec(compile(ast.Module([statement], []), path, "exec", flags, dont_inherit=True), vars(module))
        except ImportError as error:
            for each in ast.walk(statement):
                own = getattr(each, "asname", None) or getattr(each, "name", None) or getattr(each, "id", "")
                names.setdefault((own.partition(".")[0],), error)
    return module


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    for name in _beside:  # of a target loaded before, perhaps of the same names
        sys.modules.pop(name, None)
    _beside.clear()
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
        for name in {*sys.modules} - before:
            _beside.extend(name for file in _own_files([name]) if file.resolve().is_relative_to(folder))


def _own_files(modules: Iterable[str]) -> set[Path]:
    # The files of those modules that are the user's: no library's and none of this project.
    outside = {*sys.stdlib_module_names, "draftproof"}
    own = (sys.modules[name] for name in modules if name.split(".")[0] not in outside)
    files = {Path(file) for module in own if (file := getattr(module, "__file__", None))}
    return {file for file in files if not INSTALLED & {*file.parts}}
