"""What adapters of Triton kernels share: the interpreter, and stand-ins for what surrounds kernels."""

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.theory.errors import BadInput


def interpreted() -> Any:
    """The module `triton`, interpreting; BadInput when it was imported before without that."""
    os.environ["TRITON_INTERPRET"] = "1"
    import triton
    import triton.language as tl

    if not type(tl.sum).__name__.startswith("Interpreted"):
        raise BadInput("triton was imported before: set TRITON_INTERPRET=1 in the environment")
    return triton


def device_functions() -> Any:
    """`triton.language.extra.libdevice` where it is needed: it has no interpreter of its own."""

    class Device:
        @staticmethod
        def log1p(x: Any) -> Any:
            import triton.language as tl
            from triton.runtime.interpreter import TensorHandle

            with np.errstate(all="ignore"):
                values = np.log1p(x.handle.data)
            return tl.core.tensor(TensorHandle(values, x.handle.dtype), x.type)

    return Device


def by_name(*, kernel: Any, **_: Any) -> Callable[[Any], Any]:
    """A decorator that launches a kernel with arguments by name.

    The function it decorates gives (grid, constants); its arguments are those of the kernel,
    without `_ptr` behind pointers.
    """

    def decorate(dispatch: Any) -> Any:
        signature = inspect.signature(dispatch)

        def launch(*args: Any, **kwargs: Any) -> None:
            inputs = signature.bind(*args, **kwargs).arguments
            grid, constants = dispatch(**inputs)[:2]
            named = {
                name: constants[name] if name in constants else inputs[name.removesuffix("_ptr")]
                for name in kernel.arg_names
            }
            kernel[grid](**named)

        return launch

    return decorate
