"""Rules that aim at another law than p, and declare it or their distance from p.

A rule that relaxes verification is lossy for p by design. It is *lossless for its own law* pi(p, q) if every
call emits pi; else all that can be said is how far from p it gets. A file declares its rules in `DECLARED`;
`TARGETS` finds them by listing this folder.
"""

from importlib import import_module
from pkgutil import iter_modules

from draftproof.theory.errors import unknown
from draftproof.theory.targets.declared import Declared


def _found() -> dict[str, Declared]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    targets = [target for module in modules for target in getattr(module, "DECLARED", ())]
    return {target.name: target for target in sorted(targets, key=lambda target: target.name)}


TARGETS: dict[str, Declared] = _found()
"""Name -> declared target."""

ITSELF = Declared("target", "the target's own law")
"""The law p: against it every rule is measured."""


def declared(spelling: str) -> Declared:
    """The declared target of that name, a parameter after a colon, or `target`. Raises
    BadInput, which lists similar names or all of them, if there is none.

    >>> str(declared("cactus")), str(declared("cactus:1/5")), declared("target").row
    ('cactus:1/20', 'cactus:1/5', None)
    """
    name, colon, parameter = spelling.partition(":")
    found = ITSELF if name == ITSELF.name else TARGETS.get(name)
    if found is None:
        raise unknown("declared target", spelling, [ITSELF.name, *TARGETS])
    return found.at(parameter) if colon else found
