"""The optimiser of weight matrices: momentum whose singular values are made equal (jordan2024muon)."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

QUINTIC = 3.4445, -4.7750, 2.0315
"""a, b, c of jordan2024muon: s -> a s + b s^3 + c s^5 takes every s of (0, 1] to near 1 in a few steps."""


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """About U V^T for each U S V^T of a stack [N, R, C]: its singular values come to lie between 0.5 and 1.5.

    >>> _ = torch.manual_seed(0)
    >>> values = torch.linalg.svdvals(orthogonal(torch.randn(3, 8, 20)))
    >>> bool(((values > 0.5) & (values < 1.5)).all())
    True
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    a, b, c = QUINTIC
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + torch.baddbmm(square, square, square, beta=b, alpha=c) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, its matrices made orthogonal; matrices of one shape go together.

    `dtype` is what the products are computed in. torch's own Muon has bfloat16 only, which takes
    most processors many times as long as float32.
    """

    def __init__(
        self,
        matrices: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.05,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        alike: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
        for each in matrices:
            alike[each.shape].append(each)
        self.dtype = dtype
        settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__([{"params": each} for each in alike.values()], settings)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step down the gradients that the matrices hold; `closure` is not called."""
        for group in self.param_groups:
            weights = group["params"]
            gradients = torch.stack([each.grad for each in weights])
            state = self.state[weights[0]]
            if not state:
                state["mean"] = torch.zeros_like(gradients)
            mean = state["mean"].lerp_(gradients, 1 - group["momentum"])
            ahead = gradients.lerp(mean, group["momentum"])
            rows, columns = weights[0].shape
            rate = group["lr"] * max(1, rows / columns) ** 0.5
            for weight, update in zip(weights, orthogonal(ahead.to(self.dtype)), strict=True):
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update.to(weight.dtype), alpha=-rate)
