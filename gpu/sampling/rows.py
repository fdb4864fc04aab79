"""From logits to next-token probabilities: one function for both target and proposal."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.sampling.device import looks
from draftproof.theory.errors import BadInput

COLDEST = 1e-30
"""Smallest positive temperature; smaller ones are raised to this, because float32 rounds many of them to 0.
"""


@dataclass(frozen=True)
class Processor:
    """A `LogitsProcessor` of transformers, or a function like one: (input_ids [R, T], scores [R, V]) ->
    scores. It changes a row of logits by the text before it, as penalties, biases and grammars do, and is
    called by `history.History`, with the drafted tokens in the text exactly as if they had been emitted: once
    for all texts of one length. It must not depend on earlier calls. The exact counterparts, on
    probabilities, are in theory/targets/processors.py.

    A function with the attribute `ignores_prompt` gets the tokens after the prompt only.

    >>> Processor(lambda input_ids, scores: 2 * scores).ignores_prompt
    False
    """

    function: Callable[[Any, Any], Tensor]

    @property
    def name(self) -> str:
        """Of the function or its class, for messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def ignores_prompt(self) -> bool:
        return getattr(self.function, "ignores_prompt", False)


@dataclass(frozen=True)
class Sampling:
    """How rows are made from logits: `processors`, in their order, change logits by the text before them (see
    `history.History`). Then come temperature (0 is greedy: all mass on the likeliest token); the `top_k`
    likeliest tokens (0 keeps all); the fewest likeliest tokens whose mass reaches `top_p`; tokens with at
    least `min_p` times the largest probability. Ties go to the lower id. Raises BadInput for a number that is
    out of range.

    >>> Sampling(top_p=0.7).filtered(torch.tensor([3.0, 2.0, 1.0]))
    tensor([3., 2., -inf])
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    processors: tuple[Processor, ...] = ()

    def __post_init__(self) -> None:
        most = {"temperature": float("inf"), "top_k": float("inf"), "top_p": 1.0, "min_p": 1.0}
        for name, high in most.items():
            if not 0 <= (number := getattr(self, name)) <= high:
                raise BadInput(f"{name} must be from 0 to {high:g}, not {number:g}")

    @cached_property
    def only_temperature(self) -> bool:
        """Whether rows are a softmax of the logits over a positive temperature, without filters."""
        return self.temperature > 0 and (self.top_k, self.top_p, self.min_p) == (0, 1, 0)

    @cached_property
    def heat(self) -> float:
        """What `filtered` logits are divided by before the softmax."""
        return max(self.temperature, COLDEST) if self.temperature > 0 else 1.0

    def filtered(self, logits: Tensor) -> Tensor:
        """Processed logits [..., V] in their own type, with -inf for the tokens that the settings drop."""
        if self.temperature <= 0:
            best = logits.argmax(-1, keepdim=True)  # of a NaN, if there is one
            return torch.full_like(logits, -torch.inf).scatter(-1, best, logits.gather(-1, best))
        if self.top_k or self.top_p != 1:
            logits = _nucleus(logits, self.heat, self.top_k, self.top_p)
        if self.min_p:
            rows = softened(logits, self.heat)
            logits = logits.masked_fill(rows < self.min_p * rows.amax(-1, keepdim=True), -torch.inf)
        return logits

    def rows(self, logits: Tensor) -> Tensor:
        """Processed logits [..., V] of any float type to float32 rows that sum to 1; float64 gives float64. A
        row with a NaN, with +inf or with only -inf becomes NaN, which verifiers report as an error.
        """
        return softened(self.filtered(logits), self.heat)


PLAIN = Sampling()
"""The model's own distribution: temperature 1, no filter."""


@dataclass(frozen=True)
class PerRequest:
    """Settings of each request as tensors [B] on the logits' device; None for what no request asks for. The
    kernels read them there. The host never does, so that numbers out of range go unseen.
    """

    temperature: Tensor
    top_k: Tensor | None = None
    top_p: Tensor | None = None
    min_p: Tensor | None = None
    only_temperature = False  # a temperature of 0 is a filter

    @property
    def heat(self) -> Tensor:
        """[B]: what `filtered` logits are divided by before the softmax."""
        return torch.where(self.temperature > 0, self.temperature, 1.0).clamp(min=COLDEST)


Settings = Sampling | PerRequest


def heats(sampling: Settings, logits: Tensor) -> Tensor:
    """[B, 2] in float32: what the filtered logits of target and proposal are divided by."""
    made = torch.empty(len(logits), 2, device=logits.device)
    heat = sampling.heat
    return made.copy_(heat[:, None]) if isinstance(heat, Tensor) else made.fill_(heat)


def settings(**given: Any) -> Settings:
    """Numbers for all requests as `Sampling`; `PerRequest` if one of them is a tensor [B]."""
    like = next((each for each in given.values() if isinstance(each, Tensor)), None)
    if like is None:
        return Sampling(**given)
    given = {"temperature": 1.0} | given
    return PerRequest(
        **{name: torch.as_tensor(each, device=like.device).expand(len(like)) for name, each in given.items()}
    )


def softened(logits: Tensor, heat: float = 1.0) -> Tensor:
    """Probabilities of filtered logits [..., V] over a positive temperature."""
    if logits.dtype not in (torch.float32, torch.float64):
        logits = logits.float()
    if heat != 1:  # centred first, since a low temperature would overflow
        logits = (logits - logits.amax(-1, keepdim=True)) / heat
    return torch.softmax(logits, -1)


def _nucleus(logits: Tensor, heat: float, top_k: int, top_p: float) -> Tensor:
    """Without the tokens beyond top-k and top-p, which the likeliest tokens alone decide.

    A row is sorted whole only if the host may not look how many it takes, and top-k does not say it.
    """
    V = logits.shape[-1]
    size = min(V, top_k or (FIRST if looks(logits) else V))
    rows = None if top_p == 1 else softened(logits, heat)
    while True:
        best, at = logits.topk(size, -1)
        count = torch.full_like(at[..., :1], size)
        if rows is not None:
            mass = rows.gather(-1, at).double()
            total = (mass if top_k or size == V else rows.double()).sum(-1, keepdim=True)
            reached = mass.cumsum(-1) - mass >= top_p * total
            count = (size - reached.sum(-1, keepdim=True)).clamp(min=1)
        if top_k or size == V or bool((count < size).all()):
            break
        size = min(V, 8 * size)
    least = best.gather(-1, count - 1)
    dropped = logits < least
    if not looks(logits) or bool((V - dropped.sum(-1, keepdim=True) > count).any()):
        ties = logits == least
        open_places = count - (logits > least).sum(-1, keepdim=True)
        dropped = dropped | (ties & (ties.cumsum(-1) > open_places))
    return logits.masked_fill(dropped, -torch.inf)


FIRST = 64
"""Top-p first tries this number of the likeliest tokens, then eight times as many, and so on."""
