"""The command `gpu generate`."""

import json
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from draftproof.gpu.options import DTYPE, VERIFIER, as_json, device, known_drafts, model, no_graphs
from draftproof.theory.errors import BadInput

if TYPE_CHECKING:
    from draftproof.gpu.engine.output import Transcript

PROMPT = "def main():\n"


@click.command("generate")
@model
@click.option(
    "--drafter", help="Likewise, or features, ngram, none [default: trained with the target, or ngram]."
)
@click.option(
    "--verifier",
    type=VERIFIER,
    help="[default: block on chains, traversal on trees, one-hot on top-k trees]",
)
@click.option(
    "--draft",
    "spelling",
    callback=known_drafts,
    default="chain:4",
    show_default=True,
    help="chain:4, paths:3x4, tree:2x3, tree:eagle, "
    "tree:[[[],[]],[[]]], top-k:WIDTHxDEPTHxTOKENS; paths+: and tree+: draw with replacement.",
)
@click.option(
    "--prompt", "prompts", multiple=True, help="Text to continue; several make a batch; - reads it."
)
@click.option("--max-new-tokens", type=click.IntRange(1, 2**20), default=128, show_default=True)
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=1.0, show_default=True, help="0 is greedy."
)
@click.option(
    "--top-k", type=click.IntRange(min=0), default=0, help="Keep so many likeliest tokens; 0 keeps all."
)
@click.option(
    "--top-p", type=click.FloatRange(0, 1), default=1.0, help="Keep the likeliest tokens of this mass."
)
@click.option(
    "--min-p", type=click.FloatRange(0, 1), default=0.0, help="Drop tokens below this share of the best."
)
@click.option("--stop", multiple=True, help="End where this string appears.")
@click.option("--ignore-end", is_flag=True, help="Go on after end-of-text tokens.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@device
@click.option("--dtype", type=DTYPE, help="[default: as saved; CPU float32]")
@no_graphs
@as_json
def COMMAND(**options: Any) -> int:
    """Continue a text by speculative decoding, with any verifier and any draft.

    The text is written as it comes; of a batch, each text when it is finished. The last line counts
    tokens and steps; block efficiency is accepted tokens a step plus the extra one that every step emits.
    """
    from draftproof.gpu.device import memory_errors

    started = monotonic()
    prompts = [sys.stdin.read() if each == "-" else each for each in options["prompts"] or (PROMPT,)]
    if "" in prompts:
        raise BadInput("--prompt is empty")
    if "" in options["stop"]:
        raise BadInput("--stop is empty")
    with memory_errors("take a smaller model or another --device"):
        steps, transcript = _begin(prompts, options)
    stream = not options["as_json"]
    loaded = monotonic()
    try:
        with memory_errors("the text so far is above; take fewer prompts or --max-new-tokens"):
            for step in steps:
                new = transcript.add(step)
                if stream:
                    click.echo(new, nl=False)
    except (BadInput, KeyboardInterrupt) as error:
        transcript.error = str(error) or "interrupted"
        if transcript.steps:
            _end(transcript, options, started, loaded)
        raise
    _end(transcript, options, started, loaded)
    return 0


def _begin(prompts: list[str], options: dict[str, Any]) -> "tuple[Any, Transcript]":
    import torch

    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import Transcript
    from draftproof.gpu.rows import Sampling
    from draftproof.gpu.structures import structure
    from draftproof.gpu.verify import named

    shape = structure(options["spelling"])
    named_by_kind = {"chain": "block", "deterministic": "one-hot"}
    options["verifier"] = options["verifier"] or named_by_kind.get(shape.kind, "traversal")
    verifier = named(options["verifier"])
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    target, drafter = pair(options["model"], options["drafter"], options["device"], dtype)
    ids = [target.tokenizer.encode(prompt) for prompt in prompts]
    steps = generate(
        target,
        drafter,
        ids,
        verifier=verifier,
        structure=shape if drafter else None,
        sampling=Sampling(options["temperature"], options["top_k"], options["top_p"], options["min_p"]),
        max_new_tokens=options["max_new_tokens"],
        stop=options["stop"],
        ignore_end=options["ignore_end"],
        seed=options["seed"],
    )
    options["drafter"] = drafter.name if drafter else "none"
    options["model"] = target.name
    return steps, Transcript(target, prompts, options["stop"])


def _end(transcript: "Transcript", options: dict[str, Any], started: float, loaded: float) -> None:
    """The last line, or the whole answer as JSON."""
    if options["as_json"]:
        kept = ("model", "drafter", "verifier", "temperature", "top_k", "top_p", "min_p", "seed")
        asked = {key: options[key] for key in kept}
        seconds = {"seconds": round(monotonic() - loaded, 3), "loading": round(loaded - started, 3)}
        click.echo(json.dumps(asked | {"draft": options["spelling"]} | transcript.answer() | seconds))
        return
    click.echo(transcript.rest(), nl=False)
    rate = transcript.tokens / max(monotonic() - loaded, 1e-9)
    draft = (
        f"{options['verifier']}, {options['spelling']}" if options["drafter"] != "none" else "plain decoding"
    )
    click.echo(
        f"\n[{transcript.tokens} tokens in {transcript.steps} steps, block efficiency "
        f"{transcript.block_efficiency:.2f}, {rate:.1f} tokens/s; {draft}]"
    )
