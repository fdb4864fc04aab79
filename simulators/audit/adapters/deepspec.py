"""DeepSpec: `verify_draft_tokens` of `deepspec/eval/base_evaluator.py`, by --path.

Version: deepseek-ai/DeepSpec afdfa7c (2026-06-30); the functions of `deepspec/utils/sampling.py` that it
uses are loaded from the same repository.
Signature: (target_model, proposal, position_ids, start, past_key_values_target, temperature,
max_proposal_tokens, ...), all by name; the proposal has draft_token_count, verify_input_ids [1, gamma + 1]
and draft_probs [1, gamma, V]. Returns a result with `committed_tokens` [1, accepted + 1].
Checked: the law of one call at temperature 1 on drafts drawn from `draft_probs`.
Not checked: the loop around it, stop tokens, how drafts are drawn, other temperatures, tau of 0.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, functions

HELPERS = ("logits_to_probs", "sample_from_probs", "gather_token_probs", "sample_residual")


def load(path: Path | None = None) -> TorchChain:
    """The function of the file at `path`."""
    import torch

    space: dict[str, Any] = {"torch": torch, "Any": Any, "DynamicCache": object}
    space |= {"DraftProposal": SimpleNamespace, "VerificationResult": SimpleNamespace}
    if path is not None:
        functions(path.parent.parent / "utils/sampling.py", HELPERS, space)
    verify_draft_tokens = functions(path, ("verify_draft_tokens",), space)["verify_draft_tokens"]

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        depth = len(tokens)
        first = torch.zeros(1, dtype=tokens.dtype)
        proposal = SimpleNamespace(
            draft_token_count=depth,
            verify_input_ids=torch.cat([first, tokens])[None],
            draft_probs=draft_logits.softmax(dim=-1)[None],
        )
        result = verify_draft_tokens(
            target_model=lambda **_: SimpleNamespace(logits=target_logits[None]),
            proposal=proposal,
            position_ids=torch.arange(depth + 1)[None],
            start=0,
            past_key_values_target=None,
            temperature=1.0,
            max_proposal_tokens=depth,
        )
        return result.committed_tokens

    return TorchChain(verify, name="deepspec verify_draft_tokens", logits=True)


TARGETS = {"deepspec": load}
