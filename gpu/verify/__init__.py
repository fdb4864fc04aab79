"""Verification algorithms in plain batched torch, one file each; `VERIFIERS` lists the folder.

All of them come to the same three things (`Rates`): a rate for every drafted node, a cut for every
row, an order in which nodes are asked. Coins are arguments, and so is the extra token's uniform.
The exact verifier of the same name in theory/verifiers is the reference.
"""

from importlib import import_module
from pkgutil import iter_modules

from gpu.verify.outcome import ERRORS, Outcome
from gpu.verify.verifier import Rates, Verifier
from theory.errors import BadInput, quoted


def _found() -> dict[str, Verifier]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [
        verifier
        for module in modules
        for verifier in getattr(module, "VERIFIERS", (getattr(module, "VERIFIER", None),))
        if verifier is not None
    ]
    return {verifier.name: verifier for verifier in sorted(found, key=lambda each: each.name)}


VERIFIERS: dict[str, Verifier] = _found()
"""Name -> verifier."""


def named(name: str) -> Verifier:
    """The verifier of that name; BadInput that lists the names when there is none.

    >>> named("rrs").drafts
    ('chain', 'tree without replacement')
    """
    if name not in VERIFIERS:
        raise BadInput(f"no GPU verifier is named {quoted(name)}; there are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


__all__ = ["ERRORS", "VERIFIERS", "Outcome", "Rates", "Verifier", "named"]
