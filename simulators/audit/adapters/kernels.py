"""Shared by adapters of Triton kernels: the interpreter, and stand-ins for the code around kernels."""

import inspect
import os
from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.lazy import Lazy
from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.stand_ins.generators import gumbel
from draftproof.theory.errors import BadInput

SMALLEST = 2.0**-31  # the smallest uniform that kernels with keyed noise use; a smaller one is raised to it


def interpreted() -> Any:
    """The module `triton` in interpreter mode; BadInput if it was already imported in another mode."""
    os.environ["TRITON_INTERPRET"] = "1"
    import triton
    import triton.language as tl

    if not type(tl.sum).__name__.startswith("Interpreted"):
        raise BadInput("triton was imported before: set TRITON_INTERPRET=1 in the environment")
    return triton


def device_functions() -> Any:
    """A stand-in for `triton.language.extra.libdevice`, which the interpreter does not support."""
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def log1p(x: Any) -> Any:
        with np.errstate(all="ignore"):
            values = np.log1p(x.handle.data)
        return tl.core.tensor(TensorHandle(values, x.handle.dtype), x.type)

    return SimpleNamespace(log1p=log1p)


def launched_by_name(*, kernel: Any, **_: Any) -> Callable[[Any], Any]:
    """A decorator of functions that return (grid, constants): launches the kernel with arguments by name.

    The arguments are the function's own, whose names lack the kernel's suffix `_ptr` of pointers.
    """

    def decorate(dispatch: Any) -> Any:
        signature = inspect.signature(dispatch)

        def launch(*args: Any, **kwargs: Any) -> None:
            inputs = signature.bind(*args, **kwargs).arguments
            grid, constants = dispatch(**inputs)[:2]
            given = {**{f"{name}_ptr": value for name, value in inputs.items()}, **inputs, **constants}
            kernel[grid](**{name: given[name] for name in kernel.arg_names})

        return launch

    return decorate


class KeyedNoise:
    """Stand-ins for the device functions that draw noise by key (seed, position); `source` gives the coins.

    Every key has one coin, drawn once and remembered, so that repeated use gives the same noise.
    """

    source: Source

    def __init__(self, language: Any):
        self.language = language

    def functions(self) -> dict[str, Any]:
        """The functions by their names in `vllm.v1.worker.gpu.sample.gumbel`."""
        return {
            "tl_rand32": self.uniform,
            "tl_rand64": self.uniform,
            "gumbel_block_argmax": self.argmax,
            "spec_step_seed": lambda seed, step: _int(seed) ^ (_int(step) << 32),
        }

    def uniform(self, seed: Any, position: Any, includes_zero: bool = True, **_: Any) -> Any:
        """One uniform per key."""
        coin = self._remembered(("u", _int(seed), _int(position)), lambda: self.source.uniform(np.float32))
        if not includes_zero:
            coin = coin.capped(SMALLEST, True) if isinstance(coin, Lazy) else max(coin, np.float32(SMALLEST))
        return self._tensor([coin], ())

    def argmax(
        self,
        logits: Any,
        block: Any,
        mask: Any,
        row: Any,
        requests_ptr: Any,
        temperature_ptr: Any,
        seeds_ptr: Any,
        position_ptr: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        """(maximum, its index) of the logits plus Gumbel noise, one per key and token."""
        tl = self.language
        seed = _int(tl.load(seeds_ptr + tl.load(requests_ptr + row)))
        position = _int(tl.load(position_ptr + row))
        values: list[Any] = []
        for x, token, inside in zip(
            logits.handle.data.tolist(), block.handle.data.tolist(), mask.handle.data.tolist(), strict=True
        ):
            if not inside or x == -np.inf:
                values.append(-np.inf)
                continue
            key = ("G", seed, position, token)
            values.append(x + self._remembered(key, lambda: gumbel(self.source, np.float32)))
        return tl.max(self._tensor(values, (len(values),)), axis=0, return_indices=True)

    def _remembered(self, key: tuple[Hashable, ...], draw: Callable[[], Any]) -> Any:
        if key not in self.source.keyed:
            self.source.keyed[key] = draw()
        return self.source.keyed[key]

    def _tensor(self, values: list[Any], shape: tuple[int, ...]) -> Any:
        from triton.runtime.interpreter import TensorHandle

        tl, array = self.language, np.empty(len(values), dtype=object)
        array[:] = values
        if not any(isinstance(value, Coin) for value in values):
            array = array.astype(np.float32)
        kind = tl.block_type(tl.float32, list(shape)) if shape else tl.float32
        return tl.core.tensor(TensorHandle(array, tl.float32), kind)


def _int(scalar: Any) -> int:
    return int(np.ravel(scalar.handle.data)[0]) if hasattr(scalar, "handle") else int(scalar)
