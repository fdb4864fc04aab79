"""From logits to next-token probabilities: one function for both target and proposal."""

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.processors import Processor
from draftproof.theory.errors import BadInput

Setting: TypeAlias = float | Tensor
"""One number for all rows, or a tensor that broadcasts against [..., 1], such as [B, 1, 1]."""

COLDEST = 1e-30
"""Smallest positive temperature; smaller ones are raised to this, because float32 rounds many of them
to 0.
"""


@dataclass(frozen=True)
class Sampling:
    """How rows are made from logits: `processors`, in their order, change logits by the text before them (see
    `history.History`), then come the settings of `probabilities`.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    processors: tuple[Processor, ...] = ()

    @property
    def only_temperature(self) -> bool:
        """Whether rows are a softmax of the logits over a positive temperature, without filters."""
        return self.temperature > 0 and (self.top_k, self.top_p, self.min_p) == (0, 1, 0)

    def rows(self, logits: Tensor) -> Tensor:
        """Logits [..., V] to float32 probabilities; the logits are processed already."""
        return probabilities(logits, self.temperature, self.top_k, self.top_p, self.min_p)


PLAIN = Sampling()
"""The model's own distribution: temperature 1, no filter."""


def probabilities(
    logits: Tensor,
    temperature: Setting = 1.0,
    top_k: int | Tensor = 0,
    top_p: Setting = 1.0,
    min_p: Setting = 0.0,
) -> Tensor:
    """float32 rows [..., V] that sum to 1, from logits [..., V] of any float type (float64 gives float64).

    Applied in this order: temperature (0 is greedy: all mass on the likeliest token); keep the `top_k`
    likeliest tokens (0 keeps all); keep the fewest likeliest tokens whose mass reaches `top_p`; keep tokens
    with at least `min_p` times the largest probability; renormalise.
    Ties go to the lower id. A row with a NaN, with +inf or with only -inf becomes a row of
    NaN, which the verifiers report as an error. Raises BadInput for a setting out of range.

    >>> probabilities(torch.tensor([0.0, 0.0, -torch.inf]))
    tensor([0.5000, 0.5000, 0.0000])
    >>> probabilities(torch.tensor([3.0, 2.0, 1.0]), top_k=1)
    tensor([1., 0., 0.])
    """
    most = {"temperature": float("inf"), "top_k": float("inf"), "top_p": 1.0, "min_p": 1.0}
    for (name, high), setting in zip(most.items(), (temperature, top_k, top_p, min_p), strict=True):
        if not isinstance(setting, Tensor) and not 0 <= setting <= high:
            raise BadInput(f"{name} must be from 0 to {high:g}, not {setting:g}")
    logits = logits if logits.dtype == torch.float64 else logits.float()
    centred = logits - logits.amax(-1, keepdim=True)
    if isinstance(temperature, Tensor):
        heat = torch.where(temperature > 0, temperature.clamp(min=COLDEST), 1.0)
        rows = torch.where(temperature > 0, torch.softmax(centred / heat, -1), _greedy(centred))
    else:
        rows = torch.softmax(centred / max(temperature, COLDEST), -1) if temperature > 0 else _greedy(centred)
    if not (_is(top_k, 0) and _is(top_p, 1)):
        rows = _nucleus(rows, logits, top_k, top_p)
    if not _is(min_p, 0):
        rows = rows * (rows >= min_p * rows.amax(-1, keepdim=True))
    return rows / rows.sum(-1, keepdim=True)


def _greedy(centred: Tensor) -> Tensor:
    row = torch.zeros_like(centred).scatter(-1, centred.argmax(-1, keepdim=True), 1.0)
    return row + 0 * centred.amax(-1, keepdim=True)  # keeps NaN


def _nucleus(rows: Tensor, logits: Tensor, top_k: int | Tensor, top_p: Setting) -> Tensor:
    order = logits.argsort(dim=-1, descending=True, stable=True)  # `rows` may have rounded two into a tie
    mass = rows.gather(-1, order)
    keep = torch.ones_like(mass, dtype=torch.bool)
    if not _is(top_k, 0):
        keep = (torch.arange(rows.shape[-1], device=rows.device) < top_k) | (top_k == 0)
        mass = mass * keep
    if not _is(top_p, 1):
        before = mass.double().cumsum(-1) - mass
        keep = keep & ((before < top_p * mass.double().sum(-1, keepdim=True)) | (before <= 0))
    kept = torch.zeros_like(rows, dtype=torch.bool).scatter(-1, order, keep.expand_as(mass))
    return torch.where(kept | rows.isnan(), rows, 0.0)


def _is(setting: Setting, neutral: float) -> bool:
    return not isinstance(setting, Tensor) and setting == neutral
