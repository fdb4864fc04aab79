"""Proofs for every vocabulary and depth: one file a family of verifiers, each step checked by the program."""

from importlib import import_module
from pkgutil import iter_modules

from draftproof.proofs_check.induction.steps import Theorem

__all__ = ["THEOREMS", "Theorem"]


def _found() -> dict[str, Theorem]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    theorems = [theorem for module in modules for theorem in getattr(module, "THEOREMS", ())]
    return {theorem.name: theorem for theorem in sorted(theorems, key=lambda theorem: theorem.name)}


THEOREMS: dict[str, Theorem] = _found()
"""Name -> theorem."""
