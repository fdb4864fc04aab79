"""EAGLE's `evaluate_posterior`, of which several projects keep a copy, on one drafted path."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from engines import functions, methods


def verifier(
    file: Path, temperature: float, name: str = "evaluate_posterior", owner: str = ""
) -> Callable[..., torch.Tensor]:
    """The function of that file, or method of its class `owner`, whose processor divides the logits by the
    temperature. SAM-Decoding's `eval_posterior` takes its settings as one object and counts the root too.
    """

    def processor(_: Any, logits: torch.Tensor) -> torch.Tensor:
        return logits / temperature

    names = {"torch": torch, "random": random, "Tuple": tuple, "SamdGenerationConfig": object}
    if owner:
        theirs = partial(getattr(methods(file, owner, (name,), names), name), None)
    else:
        theirs = functions(file, (name,), names)[name]
    settings = SimpleNamespace(greedy=False, logits_processor=processor)
    given, root = (processor, 0) if name == "evaluate_posterior" else (settings, 1)

    def verify(
        target_probs: torch.Tensor, draft_probs: torch.Tensor, draft_tokens: torch.Tensor
    ) -> torch.Tensor:
        candidates = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
        _, count, last = theirs(temperature * target_probs.log()[None], candidates, given)
        token = torch.multinomial(last.view(-1), 1) if last.numel() > 1 else last.view(-1)
        return torch.cat([draft_tokens[: int(count) - root], token])

    return verify
