"""Triton kernels that verify from logits, fused over the vocabulary; they decide as `gpu.verify` does.

They are compiled on a GPU, and run in Triton's slow interpreter elsewhere, which serves tests. Without Triton
this package still imports, `AVAILABLE` is false and `verify` raises BadInput.
"""

import os
from dataclasses import replace
from importlib import import_module, reload
from importlib.util import find_spec
from typing import Any

import torch

from draftproof.gpu.sampling import rows
from draftproof.gpu.verify import Batch, Outcome, named
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import VERIFIERS as EXACT

AVAILABLE = find_spec("triton") is not None
"""Whether Triton is installed."""

NAMES = tuple(name for name, each in EXACT.items() if each.kernel)
"""Verifiers that have kernels."""

WIDTHS = torch.float32, torch.bfloat16, torch.float16
"""Types of logits that are filtered."""


def interpreted() -> bool:
    """Whether kernels run in Triton's interpreter, which takes tensors on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y")


def interpret_without_gpu() -> None:
    """Switches Triton's interpreter on if there is no GPU; call it before defining a kernel.

    Triton chooses between compiling and interpreting when a function is defined. This includes the functions
    of its own library, which is therefore reloaded if it was already imported.
    """
    if torch.cuda.is_available():
        return
    os.environ.setdefault("TRITON_INTERPRET", "1")
    language = import_module("triton.language")
    jit = import_module("triton.runtime.jit").JITFunction
    if isinstance(language.sum, jit):
        for part in ("standard", "random"):
            library = reload(import_module(f"triton.language.{part}"))
            for name, value in list(vars(language).items()):
                if isinstance(value, jit) and hasattr(library, name):
                    setattr(language, name, getattr(library, name))


if AVAILABLE:
    interpret_without_gpu()


def compiled_for(device: torch.device) -> bool:
    """Whether kernels are compiled for this device."""
    return AVAILABLE and device.type == "cuda"


def verify(name: str, batch: Batch, *, draft_heat: float | None = None, **settings: Any) -> Outcome:
    """One iteration of the verifier of that name for each row of a batch of logits.

    The logits are float32, bfloat16 or float16. Of drafted nodes each is read once, and again only in rows
    whose rejections matter. `settings` are those of `Sampling`, applied to both sides, each a number or a
    tensor [B] with one for each request, which the host does not read: a temperature costs no extra pass; for
    top_k, top_p, min_p and the temperature 0 a target row is read again only where logits are kept, and never
    written. `draft_heat`: the proposal's logits are filtered already, and are to be divided by this number.
    Only the shape of a shared tree is read back from the device, once. Raises BadInput if Triton is missing,
    shapes or types do not fit or a number (not in a tensor) is out of range; a fault in one request is
    reported in `Outcome.error`.
    """
    if not AVAILABLE:
        raise BadInput("the kernels need Triton, which is not installed: pip install 'draftproof[gpu]'")
    verifier = named(name)
    if name not in NAMES:
        raise BadInput(f"{name} has no kernels; those with kernels are {', '.join(NAMES)}")
    batch, sampling = verifier.fitted(batch), rows.settings(**settings)
    if batch.target.device.type == "cpu" and not interpreted():
        raise BadInput("the kernels are compiled for a GPU, and these logits are on the CPU")
    from draftproof.gpu.kernels.launch import launch

    sides = (batch.target,) if batch.proposal is None else (batch.target, batch.proposal)
    if not sampling.only_temperature and len(batch.target):
        if any(each.dtype not in WIDTHS or each.shape[-1] >= 2**24 for each in sides):
            raise BadInput("filters are for float32, bfloat16 and float16 logits of fewer than 2^24 tokens")
        if draft_heat is None and batch.proposal is not None and batch.proposal.numel():
            from draftproof.gpu.kernels.filtering import filtered

            batch = replace(batch, proposal=filtered(sampling, batch.proposal))
    heats = rows.heats(sampling, batch.target)
    if draft_heat is not None:
        heats[:, 1] = draft_heat
    with torch.cuda.device_of(batch.target):  # Triton launches on the current device
        return launch(verifier, batch, heats, sampling)
