"""Whole generation loops: they draft, verify and keep caches themselves."""

import inspect
from collections.abc import Callable
from typing import Any

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.judge.rounding import ROUNDOFF
from draftproof.simulators.audit.randomness.generator import Generator
from draftproof.simulators.audit.randomness.sources import Source
from draftproof.simulators.audit.targets.answers import emitted
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix

PARAMETERS = ("target", "draft", "prompt", "length")
BY_NAME = ("gamma", "rng")

MOST = 1_000
"""Most tokens that a loop may return."""


class Loop:
    """`generate(target, draft, prompt, length[, gamma][, rng])`, of which the law of the text is judged.

    `target` and `draft` are `models.Model`, `prompt` is a tensor [1, 1]; returned are the new tokens,
    of which the first `length` count and fewer are completed. `gamma` is the instance's draft depth.
    The drafting, the caches and the randomness of all rounds are the function's own.
    """

    adapter, namespace = "generation loop", {}
    slow, logits, whole = False, True, True

    def __init__(self, generate: Callable[..., Any], *, name: str = "", dtype: str | None = None):
        self.generate = generate
        self.name = name or getattr(generate, "__qualname__", type(generate).__name__)
        self.dtype = dtype or "float32"
        if self.dtype not in ROUNDOFF:
            raise BadInput(f"dtype {self.dtype!r} is not one of {', '.join(ROUNDOFF)}")
        self.namespace: dict[str, Any] = getattr(inspect.unwrap(generate), "__globals__", {})
        self._named = _named(generate, self.name)

    def fresh(self) -> None:
        """Nothing is kept: models and caches are new in every run."""

    def prepare(self, instance: Instance, length: int) -> Any:
        """The models of an instance, how many tokens are asked for, and gamma."""
        import torch

        from draftproof.simulators.audit.targets.models import Model

        dtype = getattr(torch, self.dtype)
        models = Model(instance.target, dtype), Model(instance.proposal, dtype)
        return models, length, instance.draft.depth

    def call(self, watch: Watch, source: Source, prepared: Any, position: int = 0) -> Prefix:
        """The first tokens of one run of the loop."""
        import torch

        from draftproof.simulators.audit.randomness.torch_mode import Answering

        (target, draft), length, gamma = prepared
        watch.current.start(source)
        known = {"gamma": gamma, "rng": Generator(source)}
        extra = {name: known[name] for name in self._named}
        with Answering(source):
            prompt = torch.zeros(1, 1, dtype=torch.int64)
            words = watch.call(lambda: self.generate(target, draft, prompt, length, **extra))
        return emitted(words, target.rows.vocab, MOST)[:length]


def _named(generate: Callable[..., Any], name: str) -> list[str]:
    try:
        parameters = list(inspect.signature(generate).parameters.values())
    except (TypeError, ValueError):
        return []
    positional = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY][:4]
    if tuple(positional) != PARAMETERS:
        raise BadInput(f"{name} must take {', '.join(PARAMETERS)} and, where it needs them, gamma and rng")
    for each in parameters[4:]:
        if each.name not in BY_NAME and each.default is each.empty and each.kind is not each.VAR_KEYWORD:
            raise BadInput(f"{name} has a parameter {each.name!r} that nothing is passed for")
    return [each.name for each in parameters[4:] if each.name in BY_NAME]
