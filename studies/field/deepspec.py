"""deepseek-ai/DeepSpec: `verify_draft_tokens` of one call at temperature 1, without the loop around it."""

from types import SimpleNamespace
from typing import Any

import torch
from clones import clone
from engines import functions

HELPERS = "logits_to_probs", "sample_from_probs", "gather_token_probs", "sample_residual"
names = {"torch": torch, "Any": Any, "DynamicCache": object}
names |= {"DraftProposal": SimpleNamespace, "VerificationResult": SimpleNamespace}
functions(clone("deepseek-ai/DeepSpec", "deepspec/utils/sampling.py"), HELPERS, names)
FILE = clone("deepseek-ai/DeepSpec", "deepspec/eval/base_evaluator.py")
theirs = functions(FILE, ("verify_draft_tokens",), names)["verify_draft_tokens"]


def verify(target_logits, draft_logits, draft_tokens):
    depth = len(draft_tokens)
    first = torch.zeros(1, dtype=draft_tokens.dtype)
    proposal = SimpleNamespace(
        draft_token_count=depth,
        verify_input_ids=torch.cat([first, draft_tokens])[None],
        draft_probs=draft_logits.softmax(dim=-1)[None],
    )
    result = theirs(
        target_model=lambda **_: SimpleNamespace(logits=target_logits[None]),
        proposal=proposal,
        position_ids=torch.arange(depth + 1)[None],
        start=0,
        past_key_values_target=None,
        temperature=1.0,
        max_proposal_tokens=depth,
    )
    return result.committed_tokens[0]
