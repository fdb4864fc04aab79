"""`_speculative_sampling` of transformers, as installed, or another release's file by --path.

Version: transformers 4.37 to 5.x; parameters that differ between releases are recognised by name. Signature:
(candidate_input_ids, candidate_logits, candidate_length, new_logits, ...) of torch float32 logits; returns
(tokens, number of matches). Checked: the law of one call on one draft: token verification of a chain, with
softmax done inside. Not checked: the loop around it; `studies/field/transformers_generate.py` has that.
"""

from importlib import import_module
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, functions

NAME = "_speculative_sampling"


def load(path: Path | None = None) -> TorchChain:
    """The installed function, or that of the file `generation/utils.py` at `path`."""
    if path is not None:
        import torch

        return of(functions(path, (NAME,), {"torch": torch, "nn": torch.nn})[NAME], str(path))
    return of(getattr(import_module("transformers.generation.utils"), NAME, None), version("transformers"))


def of(function: Any, release: str) -> TorchChain:
    """A target of one release's function."""

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        known = {
            "candidate_input_ids": tokens[None],
            "candidate_logits": draft_logits[None],
            "candidate_length": len(tokens),
            "new_logits": target_logits[None],
            "max_matches": len(tokens),
            "is_done_candidate": False,
            "last_assistant_token_is_eos": False,
        }
        return function(**{name: known[name] for name in signature(function).parameters if name in known})[0][
            0
        ]

    return TorchChain(verify, name=f"transformers {release} {NAME}", logits=True)


ADAPTERS = {"transformers": load}
"""Name -> the function of a path, or None, that makes the target."""
