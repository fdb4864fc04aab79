"""Networks with random weights and drafts of a given acceptance: the cost of a step at any size, without a
download.

After a token x, its *successor* (x + 1 modulo the vocabulary) has the probability that is asked for in the
target's row, and the rest of the row is the network's own. The drafter proposes successors for certain, so
each drafted token is accepted with that probability by every lossless verifier of chains. Every pass of the
networks is made as usual; what is added is one logit of each row.
"""

from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from draftproof.gpu.checks.row_test import trusted
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter, NgramDrafter, NgramSession
from draftproof.gpu.engine.prompts import Prompt
from draftproof.gpu.network.models import Model, context_of, quiet, refused
from draftproof.gpu.sampling.device import usable
from draftproof.theory.errors import BadInput


class NoText:
    """A tokenizer whose text is the ids; no token ends a text."""

    eos_token_id = None

    def decode(self, ids: Sequence[int]) -> str:
        """The ids, with spaces between them."""
        return " ".join(map(str, ids))


def pair(
    config: str,
    drafter: str | None,
    acceptance: float,
    device: str | None = None,
    dtype: torch.dtype | None = None,
) -> tuple[Model, Drafter]:
    """A target of that configuration (a config.json or its folder) with random weights, and a drafter of
    which each token is accepted with probability `acceptance` at temperature 1: a network of another
    configuration, or none, whose drafts cost nothing. BadInput for what cannot be made.
    """
    if not 0 < acceptance < 1:
        raise BadInput(f"acceptance must be between 0 and 1, not {acceptance:g}")
    on = usable(device)
    target = network(config, on, dtype)
    target.network.register_forward_hook(
        partial(_target, log(acceptance / (1 - acceptance))), with_kwargs=True
    )
    if drafter is None:
        return target, Successors(target)
    small = network(drafter, on, dtype)
    if small.vocab != target.vocab:
        raise BadInput(f"{drafter} has {small.vocab} tokens and {config} {target.vocab}")
    small.network.register_forward_hook(_drafter, with_kwargs=True)
    made = ModelDrafter(small)
    made.only_chains = True
    return target, made


def network(config: str, device: torch.device, dtype: torch.dtype | None = None) -> Model:
    """A model of that configuration with random weights, by default in the type that the configuration names,
    on a CPU in float32.
    """
    with refused(f"{config}: transformers cannot make this model"), quiet():
        given: Any = AutoConfig.from_pretrained(config, local_files_only=True)
        own = torch.float32 if device.type == "cpu" else getattr(given, "dtype", None)
        with torch.device(device):
            made: Any = AutoModelForCausalLM.from_config(given, dtype=dtype or own)
    made = made.to(device).eval().requires_grad_(False)
    made.generation_config = GenerationConfig()
    vocab = made.config.get_text_config().vocab_size
    return trusted(Model(config, made, NoText(), vocab, context_of(made.config)))


def prompts(target: Model, count: int, tokens: int, seed: int = 0) -> list[Prompt]:
    """Random prompts of so many tokens."""
    draw = torch.Generator().manual_seed(seed)
    every = torch.randint(target.vocab, (count, tokens), generator=draw).tolist()
    return [Prompt("", ids, number) for number, ids in enumerate(every)]


def _successors(kwargs: dict[str, Any], logits: Tensor) -> Tensor:
    return (kwargs["input_ids"][:, -logits.shape[1] :, None] + 1) % logits.shape[-1]


def _target(odds: float, _: Any, __: Any, kwargs: dict[str, Any], output: Any) -> None:
    # The logit at which the successor has these log-odds against all other tokens.
    own, next_ = output.logits, _successors(kwargs, output.logits)
    own.scatter_(-1, next_, -torch.inf)
    own.scatter_(-1, next_, own.float().logsumexp(-1, keepdim=True).add_(odds).to(own.dtype))


def _drafter(_: Any, __: Any, kwargs: dict[str, Any], output: Any) -> None:
    next_ = _successors(kwargs, output.logits)
    output.logits.fill_(-torch.inf).scatter_(-1, next_, 0.0)


class Successors(NgramDrafter):
    """Drafts the successors of the last token, without a network."""

    name = "successors"

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> NgramSession:
        return _SuccessorSession(self, prompts)


class _SuccessorSession(NgramSession):
    def _append(self, row: int, tokens: Sequence[int]) -> None:
        self.texts[row] = [*tokens[-1:]]

    def found(self, row: int, most: int) -> list[int]:
        (last,) = self.texts[row]
        return [(last + ahead) % self.drafter.vocab for ahead in range(1, most + 1)]
