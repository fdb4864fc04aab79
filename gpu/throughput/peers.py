"""The same texts by transformers alone: plain and assisted generation."""

from collections.abc import Sequence
from time import perf_counter

import torch

from draftproof.gpu.device import wait
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.model import ModelDrafter
from draftproof.gpu.models import Model, quiet

PLAIN, ASSISTED = "transformers plain", "transformers assisted"


def run(
    name: str,
    target: Model,
    drafter: Drafter,
    gamma: int | None,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    temperature: float,
    seed: int,
) -> tuple[int, float]:
    """Tokens and seconds over all prompts, one after the other, at a constant draft length gamma."""
    options: dict = {"do_sample": temperature > 0}
    if temperature > 0:
        options |= {"temperature": temperature, "top_k": 0, "top_p": 1.0}
    if name == ASSISTED:
        assert isinstance(drafter, ModelDrafter)
        assistant = drafter.model.network
        settings = assistant.generation_config
        settings.num_assistant_tokens, settings.num_assistant_tokens_schedule = gamma, "constant"
        settings.assistant_confidence_threshold = 0.0
        options["assistant_model"] = assistant
    made, seconds = 0, 0.0
    torch.manual_seed(seed)
    for prompt in prompts:
        ids = torch.tensor([list(prompt)], device=target.device)
        most = min(tokens, target.context - len(prompt))
        with quiet():
            wait(target.device)
            started = perf_counter()
            said = target.network.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=most,
                min_new_tokens=most,
                pad_token_id=0,
                **options,
            )
            wait(target.device)
        seconds += perf_counter() - started
        made += said.shape[1] - ids.shape[1]
    return made, seconds
