"""The command `gpu record`."""

from collections.abc import Iterator
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands.options import DTYPE, device, model, no_graphs
from draftproof.simulators.commands.options import PATH
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput


@command("record")
@model
@option("--drafter", help="Likewise [default: trained with the target].")
@option("--prompts", type=PATH, help="A prompt a line [default: unseen text].")
@option("--count", type=IntRange(1), default=50, show_default=True, help="Prompts.")
@option("--tokens", type=IntRange(1), default=64, show_default=True, help="Tokens that continue each prompt.")
@option("--every", type=IntRange(1), default=8, show_default=True, help="Record one position of so many.")
@option("--temperature", type=FloatRange(min=0), default=1.0, show_default=True, help="0 is greedy.")
@option("--seed", type=IntRange(min=0), default=0, show_default=True)
@option("--out", type=PATH, required=True, metavar="FILE.npz", help="What to write.")
@device
@option("--dtype", type=DTYPE, help="[default: as saved; CPU float32]")
@no_graphs
def COMMAND(**options: Any) -> int:
    """Record rows of a target and a drafter, for `draftproof gap --rows`.

    The target continues each prompt by itself; at some of the new positions the rows of both models are
    kept: float32 arrays `target` and `proposal` [n, V], and `sequence` [n], the number of the prompt.
    """
    import numpy as np

    from draftproof.gpu.sampling.device import memory_errors

    with memory_errors("take fewer --tokens or another --device"):
        found = list(_rows(options))
    arrays: dict[str, Any] = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    with replacing(options["out"]) as part, part.open("wb") as file:
        np.savez(file, **arrays)
    n, vocab = arrays["target"].shape
    count = len(set(arrays["sequence"].tolist()))
    echo(f"{options['out']}: {n:,} rows of {vocab:,} tokens from {count} prompts")
    return 0


def _rows(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # The arrays of one prompt after another.
    import numpy as np
    import torch

    from draftproof.gpu.commands.settings import pair
    from draftproof.gpu.drafters.drafter import ModelDrafter
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import texts as emitted
    from draftproof.gpu.engine.prompts import prompts
    from draftproof.gpu.sampling.rows import Sampling
    from draftproof.gpu.verify import named

    target, drafter = pair(options)
    if not isinstance(drafter, ModelDrafter):
        raise BadInput("--drafter must be a model: rows of its own are recorded")
    sampling = Sampling(options["temperature"])
    texts = [each.ids for each in prompts(options["prompts"], target, options["count"])]
    for number, prompt in enumerate(texts):
        steps = generate(
            target,
            None,
            [prompt],
            verifier=named("token"),
            structure=None,
            sampling=sampling,
            max_new_tokens=options["tokens"],
            seed=options["seed"] + number,
        )
        text = [*prompt, *emitted(steps, 1)[0]]
        at = range(len(prompt) - 1, len(text) - 1, options["every"])
        ids = torch.tensor([text], device=target.device)
        logits = (each.network(ids.to(each.device)).logits for each in (target, drafter.model))
        both = (sampling.rows(each[0, list(at)]).cpu().numpy() for each in logits)
        names = "target", "proposal", "sequence"
        yield dict(zip(names, (*both, np.full(len(at), number)), strict=True))
