"""The registry of claims: what the field states, each with a verdict that anyone can reproduce."""

from importlib import import_module
from pkgutil import iter_modules

from draftproof.proofs_check.claims.claim import Claim

__all__ = ["CLAIMS", "Claim"]


def _found() -> dict[str, Claim]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return {claim.key: claim for module in modules for claim in getattr(module, "CLAIMS", ())}


CLAIMS: dict[str, Claim] = _found()
"""Key -> claim."""
