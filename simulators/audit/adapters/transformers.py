"""transformers: `_speculative_sampling`, as installed, or of another release's file by --path.

Version: 4.37 to 5.x; the parameters that came and went (`last_assistant_token_is_eos`,
`max_matches`, `is_done_candidate`, `assistant_ensemble_weight`) are recognised by name.
Signature: (candidate_input_ids, candidate_logits, candidate_length, new_logits, ...) of torch
float32 logits; returns (tokens, number of matches).
Checked: the law of one call, token verification of a chain, with softmax done inside.
Not checked: the loop around it (caches, stopping, processors, how the drafts were sampled).
"""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import functions
from draftproof.simulators.audit.adapters.torch_chain import TorchChain
from draftproof.theory.errors import BadInput

_SETTLED = {
    "is_done_candidate": False,
    "last_assistant_token_is_eos": False,
    "assistant_ensemble_weight": None,
}


def load(path: Path | None = None) -> TorchChain:
    """The installed function, or that of the file `generation/utils.py` at `path`."""
    if path is not None:
        import torch

        name = "_speculative_sampling"
        return of(functions(path, (name,), {"torch": torch, "nn": torch.nn})[name], str(path))
    try:
        found = import_module("transformers.generation.utils")._speculative_sampling
        version = import_module("transformers").__version__
    except (ImportError, AttributeError) as error:
        raise BadInput(f"transformers with _speculative_sampling is not installed: {error}") from None
    return of(found, version)


def of(function: Any, version: str = "") -> TorchChain:
    """A target of one release's function."""
    names = list(inspect.signature(function).parameters)
    for name in names[4:]:
        if name not in (*_SETTLED, "max_matches"):
            raise BadInput(f"transformers {version}: unknown parameter {name!r}")

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        ids = tokens[None]
        extra = {name: _SETTLED.get(name, len(tokens)) for name in names[4:]}
        valid, _ = function(ids, draft_logits[None], len(tokens), target_logits[None], **extra)
        return valid[0]

    return TorchChain(
        verify, name=f"transformers {version} _speculative_sampling".replace("  ", " "), logits=True
    )


TARGETS = {"transformers": load}
