"""Verification algorithms, one file each, as near to the paper's pseudo-code as Python comes.

Every file has `verify(oracle, draft, target)`, which returns the node where it stops and the row
that the extra token Y is drawn from, and `VERIFIER`, its declarations. `VERIFIERS` finds them by
listing this folder: a new algorithm is one new file and its test.
"""

from importlib import import_module
from pkgutil import iter_modules

from draftproof.theory.errors import unknown
from draftproof.theory.verifier import Verifier


def _found() -> dict[str, Verifier]:
    names = (module.name for module in iter_modules(__path__) if not module.ispkg)  # `shared` is one
    modules = (import_module(f"{__name__}.{name}") for name in names)
    verifiers = (module.VERIFIER for module in modules)
    return {verifier.name: verifier for verifier in sorted(verifiers, key=lambda v: v.name)}


VERIFIERS: dict[str, Verifier] = _found()
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name. Raises BadInput, which lists similar names or all of them, if there is none.

    >>> named("block").source
    'sun2025block, Algorithm 2'
    """
    if name not in VERIFIERS:
        raise unknown("verifier", name, VERIFIERS)
    return VERIFIERS[name]
