"""Triton kernels that verify from logits, fused over the vocabulary; they decide as `gpu.verify` does.

They are compiled on a GPU, and run in Triton's slow interpreter elsewhere, which serves tests. Without Triton
this package still imports, `AVAILABLE` is false and `verify` raises BadInput.
"""

import os
from dataclasses import replace
from functools import partial
from importlib import import_module, reload
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.sampling.rows import COLDEST, PLAIN, Sampling, Setting, must_be_settings, probabilities
from draftproof.gpu.verify import Batch, Outcome, named
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import VERIFIERS as EXACT

AVAILABLE = find_spec("triton") is not None
"""Whether Triton is installed."""

NEUTRAL = {"top_k": 0, "top_p": 1, "min_p": 0}
NAMES = tuple(name for name, each in EXACT.items() if each.kernel)
"""Verifiers that have kernels."""


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
        standard = reload(import_module("triton.language.standard"))
        for name, value in list(vars(language).items()):
            if isinstance(value, jit) and hasattr(standard, name):
                setattr(language, name, getattr(standard, name))


if AVAILABLE:
    interpret_without_gpu()


def compiled_for(device: torch.device) -> bool:
    """Whether kernels are compiled for this device."""
    return AVAILABLE and device.type == "cuda"


def verify(
    name: str,
    batch: Batch,
    *,
    temperature: Setting = 1.0,
    draft_heat: float | None = None,
    **filters: Any,
) -> Outcome:
    """One iteration of the verifier of that name for each row of a batch of logits.

    The logits are float32, bfloat16 or float16. Each is read once for its softmax, and again only in rows
    whose rejections matter. The temperature is a number, or a tensor of B positive numbers, one per request
    (0 gives error 1 there); it costs no extra pass. top_k, top_p, min_p and the temperature 0 are applied to
    both sides; if all are numbers, a target row is read again only where logits are kept, and never written.
    `draft_heat`: the proposal's logits are filtered already, and are to be divided by this number. Only the
    shape of a shared tree is read back from the device, once. Raises BadInput if Triton is missing, shapes do
    not fit or a number is out of range; a fault in one request is reported in `Outcome.error`. The call is
    that of `gpu.verify.from_logits`, which has an example.
    """
    if not AVAILABLE:
        raise BadInput("the kernels need Triton, which is not installed: pip install 'draftproof[gpu]'")
    verifier = named(name)
    if name not in NAMES:
        raise BadInput(f"{name} has no kernels; those with kernels are {', '.join(NAMES)}")
    batch = verifier.fitted(batch)
    if batch.target.device.type == "cpu" and not interpreted():
        raise BadInput("the kernels are compiled for a GPU, and these logits are on the CPU")
    from draftproof.gpu.kernels.launch import launch

    settings = (temperature, *filters.values())
    asked = any(isinstance(given, Tensor) or given != NEUTRAL[each] for each, given in filters.items())
    asked = asked or (not isinstance(temperature, Tensor) and temperature <= 0)
    sides = (batch.target,) if batch.proposal is None else (batch.target, batch.proposal)
    sampling = PLAIN
    if asked and (any(isinstance(each, Tensor) for each in settings) or not all(map(searched, sides))):
        heat = temperature.reshape(-1, 1, 1) if isinstance(temperature, Tensor) else temperature
        law = partial(probabilities, temperature=heat, **filters)
        filtered = batch.map_rows(lambda logits: law(logits).log())
        batch = filtered if draft_heat is None else replace(filtered, proposal=batch.proposal)
        temperature = 1.0
    elif asked:
        assert not isinstance(temperature, Tensor)
        must_be_settings(temperature, **filters)
        sampling = Sampling(temperature, **filters)
        temperature = sampling.heat
        if draft_heat is None and batch.proposal is not None and batch.proposal.numel():
            from draftproof.gpu.kernels.drafting import filtered as filter_rows

            batch = replace(batch, proposal=filter_rows(sampling, batch.proposal))
    heats = torch.empty(len(batch.target), 2, dtype=torch.float32, device=batch.target.device)
    if isinstance(temperature, Tensor):
        heats.copy_(temperature.reshape(-1, 1))
    else:
        heats.fill_(max(temperature, COLDEST))
    if draft_heat is not None:
        heats[:, 1] = draft_heat
    with torch.cuda.device_of(batch.target):  # Triton launches on the current device
        return launch(verifier, batch, heats, sampling)


def searched(logits: Tensor) -> bool:
    """Whether a kernel can filter these logits [B, n, V]."""
    known = logits.dtype in (torch.float32, torch.bfloat16, torch.float16)
    return known and len(logits) > 0 and logits.shape[-1] < 2**24
