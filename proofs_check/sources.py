"""The sources that decide a proof, as one hash: progress saved under another hash is of other code."""

import ast
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier

DECIDING = "draftproof.theory.", "draftproof.proofs_check."


def digest(verifier: Verifier, scheme: Scheme) -> str:
    """A hash of the verifier's file, the scheme's and the prover's, and of all that they import from
    `theory` and `proofs_check`. Raises BadInput if the verifier was not read from a file.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> block, token = (digest(named(name), Chain(2)) for name in ("block", "token"))
    >>> len(block), block == token, block == digest(named("block"), Chain(3))
    (64, False, True)
    """
    rules = verifier.verify, *([verifier.carry] if verifier.carry is not None else [])
    roots = [*(rule.__module__ for rule in rules), type(scheme).__module__, "draftproof.proofs_check.prove"]
    files = imported(roots)
    if missing := [root for root in roots if root not in files]:
        raise BadInput(f"{verifier.name}: no source file of {missing[0]}, which --resume needs")
    return sha256(repr(sorted(files.items())).encode()).hexdigest()


def imported(roots: Iterable[str]) -> dict[str, str]:
    """Module -> source, of the roots and of what they import from DECIDING, directly or not."""
    sources: dict[str, str] = {}
    left = list(roots)
    while left:
        name = left.pop()
        if name not in sources and (path := _file(name)) is not None:
            sources[name] = path.read_text(encoding="utf-8")
            left += [each for each in _imports(sources[name]) if each.startswith(DECIDING)]
    return sources


def _imports(source: str) -> Iterable[str]:
    # Names that may be modules: `from a import b` may mean a.b.
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)


def _file(name: str) -> Path | None:
    # The module's source file; None if there is no such module.
    if (module := sys.modules.get(name)) is not None:
        return Path(module.__file__) if module.__file__ else None
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None
