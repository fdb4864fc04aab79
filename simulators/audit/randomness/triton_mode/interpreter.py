"""Switching the interpreter over while a foreign function runs, and back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch

from draftproof.simulators.audit.randomness.torch_mode.shadows import Shadows
from draftproof.simulators.audit.randomness.triton_mode.arithmetic import overrides
from draftproof.simulators.audit.randomness.triton_mode.memory import Memory

_language: list[tuple[Any, str, Any, Any]] = []
"""(where, attribute, before, after) of what Triton patches in `triton.language`, once it did."""


@contextmanager
def following(shadows: Shadows) -> Iterator[None]:
    """Kernels launched inside follow the coins of the shadows; nothing where Triton does not interpret."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    if interpreter is None or not hasattr(interpreter, "_LangPatchScope"):
        yield
        return
    memory, patched = Memory(), _Patched(interpreter)
    launch = interpreter.GridExecutor.__call__

    def launched(executor: Any, *args: Any, **kwargs: Any) -> None:
        with torch._C.DisableTorchFunction():
            tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
            memory.put(tensors, shadows)
            launch(executor, *args, **kwargs)
            memory.take(tensors, shadows)

    changes = [
        (interpreter.GridExecutor, "__call__", launched),
        (interpreter, "_patch_lang", patched),
        (interpreter.interpreter_builder, "options", interpreter.InterpreterOptions(sanitize_overflow=False)),
        *overrides(interpreter, memory),
    ]
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    try:
        for where, name, new in changes:
            setattr(where, name, new)
        yield
    finally:
        for where, name, old in reversed(before):
            setattr(where, name, old)
        patched.undo()


class _Patched:
    """Triton's own patch of `triton.language`, which it makes anew at every call: here once a run.

    Called as `_patch_lang(function)`. What it changes is remembered, so that the next run sets it
    again without looking for it.
    """

    def __init__(self, interpreter: Any):
        language = {"tl": interpreter.tl, "core": interpreter.tl.core}
        self._missing, self._done = interpreter._MISSING, False
        self._patch_lang = interpreter._patch_lang
        self._all = SimpleNamespace(__globals__=language)

    def __call__(self, _: Any) -> Any:
        if not self._done:
            self._done = True
            for where, name, _, new in _language:
                setattr(where, name, new)
            if not _language:
                made = self._patch_lang(self._all)._changes
                _language.extend((where, name, old, getattr(where, name)) for where, name, old in made)
        return self

    def restore(self) -> None:
        """What Triton calls after a launch: nothing is undone yet."""

    def undo(self) -> None:
        """`triton.language` as it was."""
        for where, name, old, _ in reversed(_language if self._done else []):
            if old is self._missing:
                delattr(where, name)
            else:
                setattr(where, name, old)
        self._done = False
