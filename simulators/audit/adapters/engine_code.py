"""Runs one function of an engine that cannot be imported as a whole.

It is defined in a namespace with the few names that it uses. The audited source text is theirs, unmodified.
The function is then audited as a `TorchChain`.
"""

import __future__

import ast
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.targets.base import Arrays
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.support.files import text_of
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
