"""The command `gpu generate`."""

import json
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.options import (
    DTYPE,
    VERIFIER,
    as_json,
    budget,
    device,
    known_drafts,
    model,
    no_graphs,
    rule,
    sampling,
)
from draftproof.theory.errors import BadInput

PROMPT = "def main():\n"
UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer decodes an incomplete character to."""
USUAL = {"chain": "block", "deterministic": "one-hot", "stratified": "lifted-priority"}
"""The default verifier by kind of draft; traversal for other kinds."""
DRAFT = (
    "chain:4, paths:3x4, tree:2x3, tree:eagle, tree:[[[],[]],[[]]], top-k:WIDTHxDEPTHxTOKENS; "
    "paths+: and tree+: are drawn with replacement, strata: one child from each stratum."
)


@command("generate")
@model
@option("--drafter", help="As --model; or features, ngram, none [default: the target's own, or ngram].")
@option(
    "--verifier",
    type=VERIFIER,
    help="[default: block on chains, traversal on trees, lifted-priority on strata, one-hot on top-k trees]",
)
@option("--draft", "spelling", callback=known_drafts, default="chain:4", show_default=True, help=DRAFT)
@option("--prompt", "prompts", multiple=True, help="Text to continue, or - to read it; may be repeated.")
@option("--max-new-tokens", type=IntRange(1, 2**20), default=128, show_default=True)
@option("--temperature", type=FloatRange(min=0), default=1.0, show_default=True, help="0 is greedy.")
@option("--top-k", type=IntRange(min=0), default=0, help="Keep this many likeliest tokens; 0 keeps all.")
@sampling
@option("--selection", callback=rule, help="The rule that selects which drafted tokens are verified.")
@budget
@option("--batch", type=IntRange(1), help="Texts of a batch, which share a budget [default: all].")
@option("--stop", multiple=True, help="End a text where this string appears.")
@option("--ignore-end", is_flag=True, help="Continue after end-of-text tokens.")
@option("--seed", type=IntRange(min=0), default=0, show_default=True)
@device
@option("--dtype", type=DTYPE, help="[default: as saved; CPU float32]")
@no_graphs
@as_json
def COMMAND(**options: Any) -> int:
    """Continue a text by speculative decoding, with any verifier and any draft.

    A single text is written while it is generated; the texts of a batch are written as each is finished. The
    last line counts tokens and steps. Block efficiency is the mean number of tokens per step: the accepted
    tokens and the extra one.
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
    loaded = monotonic()
    try:
        with memory_errors("the text so far is above; take fewer prompts or --max-new-tokens"):
            for step in steps:
                new = transcript.add(step)
                if not options["as_json"]:
                    echo(new, nl=False)
    except (BadInput, KeyboardInterrupt) as error:
        transcript.error = str(error) or "interrupted"
        if transcript.steps:
            _end(transcript, options, started, loaded)
        raise
    _end(transcript, options, started, loaded)
    return 0


def _begin(prompts: list[str], options: dict[str, Any]) -> "tuple[Any, _Transcript]":
    """Loads the models, reads the prompts, and replaces unset `options` by their defaults."""
    import torch

    from draftproof.gpu.commands.settings import rules, samplings, selection
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.row_test import checked_pair
    from draftproof.gpu.structures import structure
    from draftproof.gpu.verify import named

    shape = structure(options["spelling"])
    options["verifier"] = options["verifier"] or USUAL.get(shape.kind, "traversal")
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    selected = [selection(options, name, options["batch"]) for name in rules(options)]
    if not selected and options["batch"] is not None:
        raise BadInput("--batch is for runs with --selection or --budget")
    target, drafter = checked_pair(options["model"], options["drafter"], options["device"], dtype)
    sampling, draft_sampling = samplings(options, target)
    steps = generate(
        target,
        drafter,
        [target.tokenizer.encode(prompt) for prompt in prompts],
        verifier=named(options["verifier"]),
        structure=shape if drafter else None,
        sampling=sampling,
        draft_sampling=draft_sampling,
        selection=selected[0] if selected else None,
        **{name: options[name] for name in ("max_new_tokens", "stop", "ignore_end", "seed")},
    )
    options |= {name: getattr(sampling, name) for name in ("top_p", "min_p")}
    both = (*sampling.processors, *draft_sampling.processors)
    options["processors"] = list(dict.fromkeys(each.name for each in both))
    options["selection"] = selected[0].rule.name if selected else None
    options["drafter"] = drafter.name if drafter else "none"
    options["model"] = target.name
    return steps, _Transcript(target.tokenizer.decode, prompts, options["stop"])


def _end(transcript: "_Transcript", options: dict[str, Any], started: float, loaded: float) -> None:
    """Writes the last line, or the whole answer as JSON."""
    seconds, tokens, steps = monotonic() - loaded, sum(map(len, transcript.ids)), transcript.steps
    mean = 1 + transcript.accepted / transcript.row_steps if steps else 0.0  # the last step counts in full
    selecting = {name: options[name] for name in ("selection", "budget", "batch")}
    if options["as_json"]:
        names = (
            "model",
            "drafter",
            "verifier",
            "temperature",
            "top_k",
            "top_p",
            "min_p",
            "processors",
            "seed",
        )
        rows = enumerate(zip(transcript.prompts, transcript.ids, transcript.finished, strict=True))
        outputs = [
            {"prompt": prompt, "text": transcript.text(row), "tokens": ids, "finished": why}
            for row, (prompt, ids, why) in rows
        ]
        answer = {name: options[name] for name in names} | {
            "draft": options["spelling"],
            "outputs": outputs,
            "tokens": tokens,
            "steps": steps,
            "block_efficiency": round(mean, 4),
            "accepted": transcript.accepted,
            **({"verified": transcript.verified, **selecting} if options["selection"] else {}),
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
    echo(
        f"{transcript.rest()}\n[{tokens} tokens in {steps} steps, block efficiency {mean:.2f}, "
        f"{tokens / max(seconds, 1e-9):.1f} tokens/s; {draft}]"
    )


class _Transcript:
    """Tokens and texts by prompt, and the counts of the last line."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], prompts: Sequence[str], stop: Sequence[str]
    ) -> None:
        self.decode, self.prompts, self.stop = decode, prompts, stop
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.finished: list[str | None] = [None] * len(prompts)
        self.steps = self.row_steps = self.accepted = self.verified = 0
        self.printed = 0  # characters already shown of a single text
        self.error: str | None = None

    def add(self, step: Any) -> str:
        """Adds a step; returns text to show: the new characters of a single text, or a batch's finished
        texts.
        """
        self.steps += 1
        self.row_steps += len(step.rows)
        self.accepted += sum(step.accepted)
        self.verified += sum(step.kept or ())
        for row, tokens, why in zip(step.rows, step.emitted, step.finished, strict=True):
            self.ids[row] += tokens
            self.finished[row] = why
        if len(self.prompts) > 1:
            return "".join(self._whole(row) for row in step.rows if self.finished[row] is not None)
        text = self.text(0)
        if self.finished[0] is None:  # a stop string or a character may be incomplete
            hold = max((len(stop) - 1 for stop in self.stop), default=0)
            text = text[: len(text) - hold].rstrip(UNFINISHED)
        new = text[self.printed :]
        self.printed += len(new)
        return new

    def rest(self) -> str:
        """The text not yet shown when the run ends, also if it was interrupted."""
        if len(self.prompts) == 1:
            return self.text(0)[self.printed :]
        return "".join(self._whole(row) for row, why in enumerate(self.finished) if why is None)

    def text(self, row: int) -> str:
        """A row's text up to its stop string, without its end token."""
        tokens = self.ids[row]
        text = self.decode(tokens[:-1] if self.finished[row] == "end" else tokens)
        return text[: min((text.index(stop) for stop in self.stop if stop in text), default=len(text))]

    def _whole(self, row: int) -> str:
        return f"--- {row + 1}: {self.prompts[row]!r}\n{self.text(row)}\n"
