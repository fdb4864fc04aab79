"""What the options of a run ask for: the pair, the sampling of target and drafter, and the selection."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from draftproof.gpu.checks.row_test import checked_pair
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.selection import COST, Selection
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.processors import Processor, processors
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators.audit.load import load
from draftproof.theory.errors import BadInput, quoted


def samplings(options: Mapping[str, Any], target: Model) -> tuple[Sampling, Sampling]:
    """(the target's sampling, the drafter's), with the temperature and the top_k that `options` have."""
    made = _processors(options, target)
    names = "temperature", "top_k", "top_p", "min_p"
    given = {name: options[name] for name in names if options.get(name) is not None}
    plain, side = Sampling(**given), options["side"] or "both"
    heat = options["draft_temperature"]
    drafter = plain if heat is None else replace(plain, temperature=heat)
    return (
        replace(plain, processors=() if side == "proposal" else made),
        replace(drafter, processors=() if side == "target" else made),
    )


def pair(options: Mapping[str, Any]) -> tuple[Model, Drafter | None]:
    """The target and the drafter that the options name, which passed the row test."""
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    return checked_pair(options["model"], options["drafter"], options["device"], dtype)


def rules(options: Mapping[str, Any]) -> list[str]:
    """The names of the selection rules: `all` if there is only a budget. BadInput for options that need a
    rule.
    """
    names = options["selection"] or ()
    if names or options["budget"] is not None:
        return [names] if isinstance(names, str) else [*names] or ["all"]
    if options["token_cost"] is not None:
        raise BadInput("--token-cost is for runs with --selection")
    return []


def selection(options: Mapping[str, Any], rule: str, batch: int | None) -> Selection:
    """The selection with this rule, for batches of so many texts."""
    cost = COST if options["token_cost"] is None else options["token_cost"]
    return Selection.of(rule, options["budget"], batch, cost)


def _processors(options: Mapping[str, Any], target: Model) -> tuple[Processor, ...]:
    penalties = "repetition_penalty", "presence_penalty", "frequency_penalty"
    return processors(
        **{name: options[name] for name in penalties if options[name] is not None},
        logit_bias=dict(map(_bias, options["biases"])),
        bad_words_ids=[word for text in options["bad_words"] for word in _spelled(text, target)],
        logits_processor=[_function(name) for name in options["functions"]],
    )


def _bias(given: str) -> tuple[int, float]:
    token, equals, number = given.partition("=")
    try:
        if equals and token.isdigit():
            return int(token), float(number)
    except ValueError:
        pass
    raise BadInput(f"--logit-bias {quoted(given)}: write ID=NUMBER")


def _spelled(text: str, target: Model) -> list[list[int]]:
    """The ids of a text, at the beginning of a word and within one."""
    if not text.strip():
        raise BadInput("--bad-word is empty")
    every = (target.tokenizer.encode(each, add_special_tokens=False) for each in (text, " " + text))
    return list(every)


def _function(name: str) -> Any:
    found = load(name)
    return found() if isinstance(found, type) else found
