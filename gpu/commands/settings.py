"""What the options of a run ask for: the pair, structures, verifiers, the sampling, and selections."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from draftproof.gpu.checks.row_test import checked_pair
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.engine.setup import Setup
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.rows import Processor, Sampling
from draftproof.gpu.verify import VERIFIERS, named
from draftproof.simulators.audit.load import load
from draftproof.theory.errors import BadInput


def sampling(options: Mapping[str, Any]) -> Sampling:
    """The target's sampling, with the temperature and the top_k that `options` have."""
    names = "temperature", "top_k", "top_p", "min_p"
    given = {name: options[name] for name in names if options.get(name) is not None}
    functions = map(load, options["functions"])
    made = (each() if isinstance(each, type) else each for each in functions)
    return Sampling(**given, processors=tuple(map(Processor, made)))


def pair(options: Mapping[str, Any]) -> tuple[Model, Drafter | None]:
    """The target and the drafter that the options name, which passed the row test."""
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    test = not options["no_row_test"]
    return checked_pair(options["model"], options["drafter"], options["device"], dtype, test)


def setup(
    options: Mapping[str, Any], drafts: Sequence[str], selections: Sequence[Selection], refusal: str
) -> Setup:
    """What the options compare: `drafts` without --draft; with --drafter none `refusal` is the error."""
    structures = [structure(each) for each in options["draft"] or drafts]
    verifiers = [named(name) for name in options["verifier"] or VERIFIERS]
    target, drafter = pair(options)
    if drafter is None:
        raise BadInput(f"--drafter none: {refusal}")
    heat = options["draft_temperature"]
    return Setup(target, drafter, structures, verifiers, selections, sampling(options), heat)


def selected(options: Mapping[str, Any], batch: int | None = None) -> list[Selection]:
    """The selections for batches of so many texts, `all` for a mere budget; BadInput if a rule is missing."""
    names, budget = options["selection"] or (), options["budget"]
    if not names and budget is None:
        return []
    names = [names] if isinstance(names, str) else names or ["all"]
    return [Selection.of(name, budget, batch) for name in dict.fromkeys(names)]
