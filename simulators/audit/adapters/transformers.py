"""`_speculative_sampling` of transformers, as installed, or another release's file by --path.

Version: transformers 4.37 to 5.x; parameters that differ between releases are recognised by name. Signature:
(candidate_input_ids, candidate_logits, candidate_length, new_logits, ...) of torch float32 logits; returns
(tokens, number of matches). Checked: the law of one call on one draft: token verification of a chain, with
softmax done inside. Not checked: the loop around it (caches, stopping, processors, how the drafts were
sampled).
"""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, functions
from draftproof.theory.errors import BadInput

NAME = "_speculative_sampling"

SETTLED = {
    "is_done_candidate": False,
    "last_assistant_token_is_eos": False,
    "assistant_ensemble_weight": None,
}
"""Parameters that only some releases have -> the argument passed for them."""


def load(path: Path | None = None) -> TorchChain:
    """The installed function, or that of the file `generation/utils.py` at `path`."""
    if path is not None:
        import torch

        return of(functions(path, (NAME,), {"torch": torch, "nn": torch.nn})[NAME], str(path))
    try:
        found = getattr(import_module("transformers.generation.utils"), NAME)
        version = import_module("transformers").__version__
    except (ImportError, AttributeError) as error:
        raise BadInput(f"transformers with {NAME} is not installed: {error}") from None
    return of(found, version)


def of(function: Any, version: str) -> TorchChain:
    """A target of one release's function."""
    names = list(inspect.signature(function).parameters)[4:]
    for name in names:
        if name not in (*SETTLED, "max_matches"):
            raise BadInput(f"transformers {version}: unknown parameter {name!r}")

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        extra = {name: SETTLED.get(name, len(tokens)) for name in names}
        return function(tokens[None], draft_logits[None], len(tokens), target_logits[None], **extra)[0][0]

    return TorchChain(verify, name=f"transformers {version} {NAME}", logits=True)


TARGETS = {"transformers": load}
