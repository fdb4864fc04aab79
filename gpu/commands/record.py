"""The command `gpu record`."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from click import FloatRange, IntRange, command, option

from draftproof.gpu.commands.options import DTYPE, device, model, no_row_test, settings
from draftproof.simulators import screen
from draftproof.simulators.commands.options import PATH, json_option
from draftproof.simulators.support.files import json_lines, replacing
from draftproof.theory.errors import BadInput, located

PROMPT, TEXT = ("prompt_token_ids",), ("token_ids", "tokens", "output_ids")
"""Under which a response or its first choice has its token ids."""


@command("record")
@model
@no_row_test
@option("--drafter", help="Likewise [default: trained with the target].")
@option("--prompts", type=PATH, help="A prompt a line [default: unseen text].")
@option("--served", type=PATH, metavar="FILE", help="Responses of a server, one a line, to judge.")
@option("--count", type=IntRange(1), default=50, help="Prompts.")
@option("--tokens", type=IntRange(1), default=64, help="Tokens that continue each prompt.")
@option("--every", type=IntRange(1), default=8, help="Record one position of so many.")
@option("--temperature", type=FloatRange(min=0), default=1.0, help="0 is greedy.")
@option("--seed", type=IntRange(min=0), default=0)
@option("--out", type=PATH, required=True, metavar="FILE", help="What to write.")
@device
@option("--dtype", type=DTYPE, help="[default: as saved; CPU float32]")
@json_option
@settings(
    option("--draft-temperature", type=FloatRange(min=0)),
    option("--draft-top-k", type=IntRange(0), default=0),
)
def COMMAND(**options: Any) -> int:
    """Record rows of a target and a drafter, for `draftproof gap --rows`.

    The target continues each prompt by itself; at some of the new positions the rows of both models are
    kept: float32 arrays `target` and `proposal` [n, V], and `sequence` [n], the number of the prompt.

    With --served, for `draftproof endpoint --acceptance`: JSON lines, each a response with its
    "prompt_token_ids" and "token_ids" (or its first choice's; "tokens" and "output_ids" are known too). They
    are written again with "accept": min(1, q/p) of each token after the first. The server's drafts are drawn
    at --temperature, or at draft_temperature and from the draft_top_k likeliest tokens, by --settings.
    """
    import numpy as np

    from draftproof.gpu.sampling.device import memory_errors

    with memory_errors("take fewer --tokens or another --device"):
        if options["served"] is not None:
            lines = list(_served(options))
            with replacing(options["out"]) as part:
                part.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
            answer = {"file": str(options["out"]), "responses": len(lines)}
            screen.answer(answer, f"{options['out']}: {len(lines):,} responses", options["as_json"])
            return 0
        found = list(_rows(options))
    arrays: dict[str, Any] = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    with replacing(options["out"]) as part, part.open("wb") as file:
        np.savez(file, **arrays)
    n, vocab = arrays["target"].shape
    count = len(set(arrays["sequence"].tolist()))
    answer = {"file": str(options["out"]), "rows": n, "vocab": vocab, "prompts": count}
    line = f"{options['out']}: {n:,} rows of {vocab:,} tokens from {count} prompts"
    screen.answer(answer, line, options["as_json"])
    return 0


def _pair(options: dict[str, Any]) -> tuple[Any, Any]:
    # The target and the drafter's model.
    from draftproof.gpu.commands.settings import pair
    from draftproof.gpu.drafters.drafter import ModelDrafter

    target, drafter = pair(options)
    if not isinstance(drafter, ModelDrafter):
        raise BadInput("--drafter must be a model: rows of its own are recorded")
    return target, drafter.model


def _rows(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # The arrays of one prompt after another.
    import numpy as np
    import torch

    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import texts as emitted
    from draftproof.gpu.engine.prompts import prompts
    from draftproof.gpu.sampling.rows import Sampling
    from draftproof.gpu.verify import named

    target, drafter = _pair(options)
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
        both = (
            sampling.rows(model.network(torch.tensor([text], device=model.device)).logits[0, list(at)])
            for model in (target, drafter)
        )
        arrays = (*(each.cpu().numpy() for each in both), np.full(len(at), number))
        yield dict(zip(("target", "proposal", "sequence"), arrays, strict=True))


def _served(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # Every response with the rates at which its tokens were accepted, if they were drafted.
    import torch

    from draftproof.gpu.sampling.rows import Sampling

    target, drafter = _pair(options)
    heat, draft_heat = options["temperature"], options["draft_temperature"]
    draft = Sampling(heat if draft_heat is None else draft_heat, options["draft_top_k"])
    laws = Sampling(heat), draft
    for where, given in json_lines(options["served"]):
        with located(where):
            prompt, text = _ids(given, PROMPT), _ids(given, TEXT)
            ids = torch.tensor(prompt + text, device=target.device)
            if int(ids.max()) >= target.vocab:
                raise BadInput(f"a token beyond the vocabulary of {target.vocab:,}")
            after = slice(len(prompt), -1)  # where the tokens after the first are predicted
            p, q = (
                law.rows(model.network(ids[None].to(model.device)).logits[0, after].to(ids.device))
                .gather(1, ids[len(prompt) + 1 :, None])
                .double()
                for law, model in zip(laws, (target, drafter), strict=True)
            )
            yield given | {"accept": (q / p.clamp(min=1e-300)).clamp(max=1)[:, 0].tolist()}


def _ids(given: Any, names: Sequence[str]) -> list[int]:
    choices = given.get("choices") if isinstance(given, dict) else None
    places = [given, *(choices[:1] if isinstance(choices, list) else ())]
    for found in (each.get(name) for each in places if isinstance(each, dict) for name in names):
        if isinstance(found, list) and found and all(type(n) is int and n >= 0 for n in found):
            return found
    raise BadInput(f"no {' or '.join(names)} with token ids")
