"""EAGLE: `evaluate_posterior` of `eagle/model/utils.py`, by --path.

Version: EAGLE-1 to EAGLE-3, main branch as of February 2026.
Signature: (logits [paths, depth + 1, V], candidates [paths, depth + 1], logits_processor); returns
(best path, accepted drafts, the row of the next token). It draws from Python's `random`.
Checked: one path; the one-hot rule, which is lossless on any drafted path, however it was drawn.
Not checked: several paths, the greedy branch (logits_processor None), the drafting.
"""

import random
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, functions


def load(path: Path | None = None) -> TorchChain:
    """The function of the file at `path`."""
    import torch

    name = "evaluate_posterior"
    evaluate = functions(path, (name,), {"torch": torch, "random": random})[name]

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        candidates = torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None]
        _, accepted, row = evaluate(target_logits[None], candidates, lambda ids, logits: logits)
        return torch.cat([tokens[: int(accepted)], torch.multinomial(row, 1)])

    return TorchChain(verify, name="eagle evaluate_posterior", logits=True)


TARGETS = {"eagle": load}
