"""Without a GPU: Triton's interpreter, switched on before the kernels are defined."""

import os
from importlib import import_module, reload

import torch


def interpreted() -> bool:
    """Whether kernels are interpreted, and so take tensors on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y")


def interpret_without_gpu() -> None:
    """Triton decides between compiling and interpreting where a function is defined, its own library's
    included; that library is defined again if somebody imported it earlier.
    """
    if torch.cuda.is_available():
        return
    os.environ.setdefault("TRITON_INTERPRET", "1")
    language = import_module("triton.language")
    jit = import_module("triton.runtime.jit").JITFunction
    if isinstance(language.sum, jit):
        standard = reload(import_module("triton.language.standard"))
        for name, value in list(vars(language).items()):
            if isinstance(value, jit) and hasattr(standard, name):
                setattr(language, name, getattr(standard, name))
