"""What the options of a run ask for: the pair, the sampling of target and drafter, and the selection."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from draftproof.gpu.checks.row_test import checked_pair
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.selection import COST, Selection
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.processors import Processor
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators.audit.load import load
from draftproof.theory.errors import BadInput


def samplings(options: Mapping[str, Any]) -> tuple[Sampling, Sampling]:
    """(the target's sampling, the drafter's), with the temperature and the top_k that `options` have."""
    names = "temperature", "top_k", "top_p", "min_p"
    given = {name: options[name] for name in names if options.get(name) is not None}
    made = Sampling(**given, processors=tuple(Processor(_function(name)) for name in options["functions"]))
    heat = options["draft_temperature"]
    return made, made if heat is None else replace(made, temperature=heat)


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


def _function(name: str) -> Any:
    found = load(name)
    return found() if isinstance(found, type) else found
