"""Hashes of the source code that a result depends on: they tell which saved results are outdated."""

import ast
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from importlib import invalidate_caches
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from pathlib import Path

from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier

Root = str | Path
"""The name of a module, or the path of a file; a Python file also imports the modules beside it."""

INSTALLED = {"site-packages", "dist-packages"}


def digest(*roots: Root, known: dict[Root, str] | None = None) -> str:
    """A hash of the roots and of all that they import, directly or not.

    Installed packages count by their version; the standard library does not count. Imports are found in the
    text, so that modules that are named at run time and files that are read are not covered. `known` keeps
    the hashes of single roots from call to call. Raises BadInput if a root has no source file.

    >>> block, token = (digest(f"draftproof.theory.verifiers.{name}") for name in ("block", "token"))
    >>> len(block), block == token, block == digest("draftproof.theory.verifiers.block")
    (64, False, True)
    """
    known = {} if known is None else known
    if not known:  # files may have come and gone
        invalidate_caches()
        _file.cache_clear()
    for root in roots:
        if root not in known:
            known[root] = _hashed(sorted(imported(root).items()))
    return _hashed([known[root] for root in roots])


def rules(verifier: Verifier) -> tuple[Root, ...]:
    """The modules of the functions that a verifier runs, or its own `roots`."""
    if verifier.roots:
        return verifier.roots
    functions = (verifier.verify, verifier.carry)
    plain = (each.func if isinstance(each, partial) else each for each in functions if each is not None)
    return tuple(dict.fromkeys(each.__module__ for each in plain))


def drafting(scheme: Scheme) -> Root:
    """The module of a drafting scheme, or its own `root`."""
    return getattr(scheme, "root", type(scheme).__module__)


def imported(root: Root) -> dict[str, bytes]:
    """Module -> its source, or the version of its package if it is installed: the root and its imports."""
    if isinstance(root, Path):
        first, folder, file = root.stem, root.resolve().parent, root
    else:
        first, folder, file = root, None, _file(root, None)
    if file is None or not file.is_file():
        raise BadInput(f"{root}: has no source file, which would show whether kept results are outdated")
    sources = {first: file.read_bytes()}
    left = list(_imports(sources[first], _package(first, file))) if file.suffix == ".py" else []
    while left:
        name = left.pop()
        if name in sources or (path := _file(name, folder)) is None:
            continue
        if INSTALLED & {*path.parts} and not name.startswith("draftproof"):
            with suppress(PackageNotFoundError):
                sources[name.split(".")[0]] = _version(name.split(".")[0]).encode()
            continue
        sources[name] = path.read_bytes()
        if path.suffix == ".py":
            left += _imports(sources[name], _package(name, path))
    return sources


def _hashed(content: object) -> str:
    return sha256(repr(content).encode()).hexdigest()


def _package(name: str, path: Path) -> str:
    return name if path.stem == "__init__" else name.rpartition(".")[0]


@lru_cache(4096)
def _imports(source: bytes, package: str) -> tuple[str, ...]:
    # Names that may be modules, with the packages they are in: `from a import b` may mean a.b.
    try:
        statements = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return ()
    names = {name for statement in statements for name in _named(statement, package)}
    parents = {name.rsplit(".", n)[0] for name in names for n in range(1, name.count(".") + 1)}
    return tuple(sorted((names | parents) - {"draftproof"}))  # which holds no logic and leads everywhere


def _named(statement: ast.AST, package: str) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        with suppress(ImportError):  # a relative import that leads nowhere
            base = resolve_name("." * statement.level + (statement.module or ""), package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in statement.names)


_version = lru_cache(256)(version)  # of a package, which does not change while this process runs


@lru_cache(8192)
def _file(name: str, folder: Path | None) -> Path | None:
    # The file of a module, found without importing it, first in the folder; None for the standard library.
    first, *rest = name.split(".")
    spec = PathFinder.find_spec(first, [str(folder)]) if folder else None
    if spec is None and first in sys.stdlib_module_names:
        return None
    if spec is None and first in sys.modules:
        origin, places = sys.modules[first].__file__, getattr(sys.modules[first], "__path__", ())
    else:
        spec = spec or find_spec(first)
        origin, places = (spec.origin, spec.submodule_search_locations) if spec else (None, ())
    for part in rest:
        spec = PathFinder.find_spec(part, list(places or ()))
        if spec is None:
            return None
        origin, places = spec.origin, spec.submodule_search_locations
    return Path(origin) if origin and Path(origin).is_file() else None
