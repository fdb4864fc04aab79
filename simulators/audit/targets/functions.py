"""Targets that are functions of arrays and verify one draft on a chain."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets import base
from draftproof.theory.draft import Draft
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


class Function(base.DraftVerifier):
    """`verify(target_probs, draft_probs, draft_tokens[, rng][, position])` on chains.

    Arrays are [gamma + 1, V], [gamma, V] and [gamma], numpy arrays or, with `tensors`, torch tensors. A class
    is instantiated without arguments for every run; attributes that it keeps between calls are its state.
    Parameters named `rng` and `position` receive the generator and the number of tokens emitted before. A
    fourth parameter without a default is assumed to be the generator. For an object with a method `forward`,
    such as a torch.nn.Module, the parameters are those of `forward`. Raises BadInput if the parameters do not
    fit.

    >>> Function(lambda p, q, x, rng: [0], name="first").adapter
    'numpy function'
    """

    arrays = True
    layout = "single"  # of its arguments

    def __init__(
        self,
        verify: Callable[..., Any],
        *,
        name: str = "",
        dtype: str | None = None,
        tensors: bool | None = None,
        roles: Sequence[base.Parameter] = (),
    ):
        self.verify = self._called = verify = self._identify(verify, name)
        self.stateful = inspect.isclass(verify)
        function = verify.__call__ if self.stateful or not inspect.isroutine(verify) else verify
        if hasattr(verify, "forward") and base.signature(function) is None:
            function = verify.forward  # type: ignore[attr-defined]
        self.namespace = getattr(inspect.unwrap(function), "__globals__", {})
        self.roles = roles or self._parameters(function)
        torch = "torch" in self.namespace and not self.takes("rng")
        self.tensors = torch if tensors is None else tensors
        self.typed = dtype is not None
        self.dtype = base.known_dtype(dtype or ("float32" if self.tensors else "float64"))
        self.draw = self._draw if hasattr(verify, "draft") else None
        self.adapter = "torch function" if self.tensors else "numpy function"

    def _parameters(self, function: Callable[..., Any]) -> list[base.Parameter]:
        parameters = base.signature(function)
        if parameters is None:
            return [*base.parameters_of(None, self.name, base.INPUTS, ()), ("rng", "rng", False)]
        own = parameters[1:] if self.stateful else parameters
        return base.parameters_of(own, self.name, base.INPUTS, ("rng", "position"))

    def reset(self) -> None:
        if self.stateful:
            self._called = None

    def _object(self, sandbox: Sandbox) -> Any:
        if self._called is None:
            sandbox.current.making = True
            try:
                self._called = sandbox.call(self.verify)
            finally:
                sandbox.current.making = False
            if "torch" in sys.modules:
                import torch

                from draftproof.simulators.audit.stand_ins.torch_mode import state_of

                held = torch.default_generator, *getattr(self._called, "__dict__", {}).values()
                made = (each for each in held if isinstance(each, torch.Generator))
                sandbox.current.once |= {("torch", state_of(each)) for each in made}
        return self._called

    def prepare(self, target: Rows, draft: Draft) -> base.Arrays:
        path = draft.path
        p = [target[node.prefix] for node in path]
        q = np.array([node.proposal for node in path[:-1]], dtype=np.float64).reshape(-1, target.vocab)
        return base.arrays(p, q, [node.token for node in path[1:]], self.dtype)

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        rng, called = sandbox.start(source), self._object(sandbox)
        given = [array.copy() for array in prepared]

        def run() -> Any:
            inputs = base.tensors(given, self.dtype) if self.tensors else given
            known = {"rng": rng, "position": position} | dict(zip(base.INPUTS.values(), inputs, strict=True))
            more, named = self.arguments(known)
            return sandbox.call(lambda: self._emitted(called(*more, **named), prepared, known))

        word = self.followed(run, source)
        for name, before, after in zip(base.INPUTS, prepared, given, strict=True):
            if before.tobytes() != after.tobytes():  # NaN are equal here
                sandbox.remarks.setdefault("changes its inputs", name)
        return word

    def _emitted(self, result: Any, given: base.Arrays, known: dict[str, Any]) -> Any:
        return base.emitted(result, given[0].shape[1], len(given[2]) + 1)

    def _draw(self, sandbox: Sandbox, source: Source, row: tuple[float, ...], position: int) -> int:
        rng, draft = sandbox.start(source), self._object(sandbox).draft
        return sandbox.call(lambda: base.emitted([draft(np.array(row), rng, position)], len(row), 1))[0]
