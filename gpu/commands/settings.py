"""What the options of a run ask for: the pair, structures, verifiers, and the sampling."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from draftproof.gpu.checks.row_test import checked_pair
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.structures import structure
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
    return checked_pair(options["model"], options["drafter"], options["device"], dtype)


def setup(options: Mapping[str, Any], drafts: Sequence[str], refusal: str) -> Setup:
    """What the options compare: `drafts` without --draft; with --drafter none `refusal` is the error."""
    structures = [structure(each) for each in options["draft"] or drafts]
    verifiers = [named(name) for name in options["verifier"] or VERIFIERS]
    target, drafter = pair(options)
    if drafter is None:
        raise BadInput(f"--drafter none: {refusal}")
    heat = options["draft_temperature"]
    return Setup(target, drafter, structures, verifiers, sampling(options), heat)
