"""The command `gpu generate`."""

import json
import sys
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands import options as shared
from draftproof.gpu.sampling.names import DRAFTS
from draftproof.theory.errors import BadInput
from draftproof.theory.shared.reportable import counted

if TYPE_CHECKING:
    from draftproof.gpu.engine.output import Transcript

PROMPT = "def main():\n"
USUAL = {"chain": "block", "deterministic": "one-hot", "stratified": "lifted-optimal"}
"""The default verifier by kind of draft; traversal for other kinds."""
DRAFT = f"{DRAFTS}; + is for draws with replacement, strata for one child from each stratum."


@command("generate")
@shared.model
@shared.no_row_test
@option("--drafter", help="As --model; or block, ngram, none [default: the target's own, or ngram].")
@option(
    "--verifier",
    type=shared.VERIFIER,
    help="[default: block on chains, traversal on trees, lifted-optimal on strata, one-hot on top-k trees]",
)
@option("--draft", "spelling", type=shared.known_draft, default="chain:4", help=DRAFT)
@option("--prompt", "prompts", multiple=True, help="Text to continue, or - to read it; may be repeated.")
@option("--prompts", "file", type=shared.FILE, help="A file of prompts or questions, instead of --prompt.")
@option("--max-new-tokens", type=IntRange(1, 2**20), default=128)
@option("--temperature", type=FloatRange(min=0), default=1.0, help="0 is greedy.")
@option("--top-k", type=IntRange(min=0), default=0, help="Keep this many likeliest tokens; 0 keeps all.")
@option(
    "--seed",
    "seeds",
    type=IntRange(min=0),
    multiple=True,
    default=(0,),
    help="One for all prompts, or one for each, so that a text does not depend on the others.",
)
@shared.device
@shared.settings(
    *shared.SAMPLING,
    option("--selection"),
    shared.budget,
    option("--batch", type=IntRange(1)),
    shared.stop,
    shared.chat,
    shared.dtype,
)
@shared.json_option
def COMMAND(**options: Any) -> int:
    """Continue a text by speculative decoding, with any verifier and any draft.

    The texts are written at the end, also after Ctrl-C. The last line counts tokens and steps. Block
    efficiency is the mean number of emitted tokens per step of a text. In --settings
    `batch` is the most texts decoded at once, which share a `budget`.
    """
    from draftproof.gpu.sampling.device import memory_errors

    started = monotonic()
    prompts = [sys.stdin.read() if each == "-" else each for each in options["prompts"] or (PROMPT,)]
    if options["file"] and options["prompts"]:
        raise BadInput("--prompt and --prompts cannot be combined")
    with memory_errors("take a smaller model or another --device"):
        steps, transcript = _begin(prompts, options)
    loaded = monotonic()
    try:
        with memory_errors("the text so far is above; take fewer prompts or --max-new-tokens"):
            for step in steps:
                transcript.keep(step)
    except (BadInput, KeyboardInterrupt) as error:
        transcript.error = str(error) or "interrupted"
        if transcript.steps:
            _end(transcript, options, started, loaded)
        raise
    _end(transcript, options, started, loaded)
    return 0


def _begin(given: list[str], options: dict[str, Any]) -> tuple[Any, "Transcript"]:
    """Loads the models, reads the prompts, and replaces unset `options` by their defaults."""
    from draftproof.gpu.commands.settings import pair, sampling, selected
    from draftproof.gpu.drafters.structures import structure
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import Transcript
    from draftproof.gpu.engine.prompts import asked, questions
    from draftproof.gpu.verify import named

    shape = structure(options["spelling"])
    options["verifier"] = options["verifier"] or USUAL.get(shape.kind, "traversal")
    chosen, heat = next(iter(selected(options)), None), options["draft_temperature"]
    target, drafter = pair(options)
    rows = sampling(options)
    every = questions(options["file"]) if options["file"] else given
    prompts = asked(every, target, options["chat"])
    seeds = options["seeds"]
    if len(seeds) not in (1, len(prompts)):
        raise BadInput(f"--seed: {len(seeds)} seeds for {len(prompts)} prompts")
    options["seed"] = seeds[0] if len(seeds) == 1 else list(seeds)
    steps = generate(
        target,
        drafter,
        [prompt.ids for prompt in prompts],
        verifier=named(options["verifier"]),
        structure=shape if drafter else None,
        sampling=rows,
        draft_sampling=rows if heat is None else replace(rows, temperature=heat),
        selection=chosen,
        **{name: options[name] for name in ("batch", "max_new_tokens", "stop", "seed")},
    )
    options |= {name: getattr(rows, name) for name in ("top_p", "min_p")}
    options["processors"] = list(dict.fromkeys(each.name for each in rows.processors))
    options["selection"] = chosen.rule.name if chosen else None
    options["drafter"] = drafter.name if drafter else "none"
    options["model"] = target.name
    shown = [prompt.text for prompt in prompts]
    return steps, Transcript(target.tokenizer.decode, shown, options["stop"])


def _end(transcript: "Transcript", options: dict[str, Any], started: float, loaded: float) -> None:
    """Writes the last line, or the whole answer as JSON."""
    seconds, tokens, steps = monotonic() - loaded, sum(map(len, transcript.ids)), transcript.steps
    mean = tokens / transcript.row_steps if steps else 0.0
    texts = [transcript.text(row) for row in range(len(transcript.ids))]
    if options["as_json"]:
        rows = "temperature", "top_k", "top_p", "min_p", "processors"
        parts = transcript.prompts, texts, transcript.ids, transcript.finished
        keys = "prompt", "text", "tokens", "finished"
        names = "model", "drafter", "verifier", *rows, "seed", "selection", "budget", "batch"
        answer = {name: options[name] for name in names} | {
            "draft": options["spelling"],
            "outputs": [dict(zip(keys, each, strict=True)) for each in zip(*parts, strict=True)],
            "tokens": tokens,
            "steps": steps,
            "block_efficiency": round(mean, 4),
            "accepted": transcript.accepted,
            "verified": transcript.verified,
            "error": transcript.error,
            "seconds": round(seconds, 3),
            "loading": round(loaded - started, 3),
        }
        echo(json.dumps(answer))
        return
    plain = options["drafter"] == "none"
    draft = "plain decoding" if plain else f"{options['verifier']}, {options['spelling']}"
    if options["selection"]:
        draft += f", {options['selection']}: {transcript.accepted} accepted of {transcript.verified} verified"
    if len(texts) > 1:
        both = enumerate(zip(transcript.prompts, texts, strict=True), 1)
        texts = [f"--- {number}: {prompt!r}\n{text}" for number, (prompt, text) in both]
    speed = f"{tokens / max(seconds, 1e-9):.1f} tokens/s"
    ended = zip(transcript.ids, transcript.finished, strict=True)
    cut = sum(why == "length" and len(ids) < options["max_new_tokens"] for ids, why in ended)
    draft += f"; {counted(cut, 'text')} cut off at the models' context" if cut else ""
    counts = f"{counted(tokens, 'token')} in {counted(steps, 'step')}"
    last = f"[{counts}, block efficiency {mean:.2f}, {speed}; {draft}]"
    echo("\n".join([*texts, last]))
