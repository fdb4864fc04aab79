"""Logits to next-token rows: one function, applied to target and proposal alike."""

from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.theory.errors import BadInput

Setting: TypeAlias = float | Tensor
"""One number for all rows, or a tensor that broadcasts against [..., 1], such as [B, 1, 1]."""

COLDEST = 1e-30
"""A positive temperature counts as at least this: float32 makes 0 of much smaller ones."""


def probabilities(
    logits: Tensor,
    temperature: Setting = 1.0,
    top_k: int | Tensor = 0,
    top_p: Setting = 1.0,
    min_p: Setting = 0.0,
) -> Tensor:
    """float32 rows [..., V] that sum to 1, from logits [..., V] of any float type (float64 stays).

    In this order: temperature (0 is greedy: all mass on the likeliest token), then the `top_k`
    likeliest tokens (0 keeps all), then the fewest likeliest tokens whose mass reaches `top_p`, then
    those with at least `min_p` times the likeliest one's probability; what stays is renormalised.
    Ties go to the lower id. A row with a NaN, with +inf or with nothing but -inf becomes a row of
    NaN, which the verifiers report as an error. Raises BadInput for a setting out of range.

    >>> probabilities(torch.tensor([0.0, 0.0, -torch.inf]))
    tensor([0.5000, 0.5000, 0.0000])
    >>> probabilities(torch.tensor([3.0, 2.0, 1.0]), top_k=1)
    tensor([1., 0., 0.])
    """
    _check(temperature, top_k, top_p, min_p)
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
    return row + 0 * centred.amax(-1, keepdim=True)  # a NaN stays one


def _nucleus(rows: Tensor, logits: Tensor, top_k: int | Tensor, top_p: Setting) -> Tensor:
    order = logits.argsort(dim=-1, descending=True, stable=True)  # rows may have rounded two into a tie
    mass = rows.gather(-1, order)
    keep = torch.ones_like(mass, dtype=torch.bool)
    if not _is(top_k, 0):
        rank = torch.arange(rows.shape[-1], device=rows.device)
        most = torch.as_tensor(top_k, device=rows.device) if isinstance(top_k, Tensor) else top_k
        keep = (rank < most) | (most == 0 if isinstance(most, Tensor) else False)
        mass = mass * keep
    if not _is(top_p, 1):
        before = mass.double().cumsum(-1) - mass
        keep = keep & ((before < top_p * mass.double().sum(-1, keepdim=True)) | (before <= 0))
    kept = torch.zeros_like(rows, dtype=torch.bool).scatter(-1, order, keep.expand_as(mass))
    return torch.where(kept | rows.isnan(), rows, 0.0)


def _is(setting: Setting, neutral: float) -> bool:
    return not isinstance(setting, Tensor) and setting == neutral


def _check(temperature: Setting, top_k: int | Tensor, top_p: Setting, min_p: Setting) -> None:
    for name, setting, low, high in (
        ("temperature", temperature, 0.0, float("inf")),
        ("top_k", top_k, 0, float("inf")),
        ("top_p", top_p, 0.0, 1.0),
        ("min_p", min_p, 0.0, 1.0),
    ):
        if not isinstance(setting, Tensor) and not low <= setting <= high:
            raise BadInput(f"{name} must be from {low:g} to {high:g}, not {setting:g}")
