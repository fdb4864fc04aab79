"""The mode that every torch function goes through while a foreign function runs."""

from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from draftproof.simulators.audit.randomness.sources import Source
from draftproof.simulators.audit.randomness.torch_mode.arithmetic import BINARY, COMPARE, UNARY
from draftproof.simulators.audit.randomness.torch_mode.draws import REFUSED, Draws
from draftproof.simulators.audit.randomness.torch_mode.operations import Operations
from draftproof.simulators.audit.randomness.torch_mode.shadows import Shadows
from draftproof.simulators.audit.randomness.torch_mode.shapes import BLIND, MOVES, reshaped
from draftproof.simulators.audit.randomness.triton_mode import following
from draftproof.simulators.audit.randomness.world import NotEnumerable, Opaque


class Answering(TorchFunctionMode):
    """While entered, torch draws from the source."""

    def __init__(self, source: Source):
        super().__init__()
        self.shadows = Shadows()
        self.draws, self.operations = Draws(source, self.shadows), Operations(self.shadows)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        raw = getattr(func, "__name__", "")
        name = raw.strip("_")
        inplace = raw.endswith("_") and not raw.startswith("_")
        draw = getattr(self.draws, f"draw_{name}", None)
        if draw is not None:
            return draw(func, args, kwargs)
        if name in REFUSED:
            raise NotEnumerable(f"torch.{raw} has no exact account here")
        if not self.shadows.met(args) and not self.shadows.met(tuple(kwargs.values())):
            if inplace and args:
                self.shadows.forget(args[0])
            return func(*args, **kwargs)
        with np.errstate(all="ignore"):
            result = self._followed(func, name, args, kwargs)
        return self.shadows.into(args[0], result) if inplace else result

    def __enter__(self) -> Any:
        self._kernels = following(self.shadows)
        self._kernels.__enter__()
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._kernels.__exit__(*raised)

    def tensor(self, values: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """An array of coins as a tensor."""
        return self.shadows.made(values.view(np.ndarray), torch.empty(0, dtype=dtype))

    def _followed(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        array, made = self.shadows.array, self.shadows.made
        if name in COMPARE:
            return torch.from_numpy(np.array(COMPARE[name](array(args[0]), array(args[1])), dtype=bool))
        if name in BINARY and not kwargs.get("rounding_mode"):
            return made(BINARY[name](array(args[0]), array(args[1])), args[0])
        if name in UNARY:
            return made(UNARY[name](array(args[0])), args[0])
        if name in MOVES:
            return reshaped(self.shadows, func, args, kwargs)
        if name in BLIND:
            return func(*args, **kwargs)
        if name in ("data_ptr", "untyped_storage", "storage"):
            raise Opaque(f"torch.{name} hands coins to code outside torch")
        operation = getattr(self.operations, f"op_{name}", None)
        if operation is None:
            raise NotEnumerable(f"torch.{name} of coins")
        return operation(*args, **kwargs)
