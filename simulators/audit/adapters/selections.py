"""Which drafted tokens of a batch engines verify: SGLang's and vLLM's budgets by confidence, by --path.

Version: SGLang 0.5.23, `sglang/kernels/ops/speculative/dspark/dspark_schedule.py` (`sglang-topk`), and
earlier files that have `schedule_verify_lens_topk`; vLLM 0.33.0,
`vllm/v1/worker/gpu/spec_decode/adaptive_verification.py` (`vllm-budget`).
Signature: `schedule_verify_lens_topk(confidence or survival_probs [R, gamma], budget, cfg)` returns the
number of verified tokens of each request with the last token of the context;
`_assign_draft_token_budget(confidence_probs, idx_mapping, capacities, draft_budget, num_steps)` changes
`capacities` in place.
Checked: the joint law of a batch over one call. The confidence of a position is 1 - TV(p, q) after the
drafted tokens before it, what a trained confidence head is trained to predict.
Not checked: confidence heads and estimators themselves, how large the budget is, lagged scores, the engines'
own verification of ragged batches.
"""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import function_of, functions
from draftproof.simulators.audit.targets.selection import Selection


def confidences(target: Any, draft: Any) -> Any:
    """1 - TV(p, q) at every drafted position, [R, gamma]."""
    import torch

    return torch.minimum(target[:, :-1], draft).sum(dim=-1)


def sglang(path: Path | None = None) -> Selection:
    """SGLang's selection of the file at `path`."""
    scheduled = function_of(path, "sglang", "schedule_verify_lens_topk")
    known = inspect.signature(scheduled).parameters

    def select(target: Any, draft: Any, tokens: Any, capacity: int) -> Any:
        gamma = tokens.shape[1]
        sure = confidences(target, draft)
        given = {"confidence": sure} if "confidence" in known else {"survival_probs": sure.cumprod(dim=1)}
        longest = SimpleNamespace(
            gamma=gamma,
            min_verify_len=1,
            survival_eps=1e-6,
            validate=lambda: None,
            resolved_max_verify_len=lambda: gamma + 1,
        )
        return scheduled(**given, budget=capacity, cfg=longest) - 1

    return Selection(select, name="sglang-topk schedule_verify_lens_topk", tensors=True)


def vllm(path: Path | None = None) -> Selection:
    """vLLM's selection of the file at `path`."""
    import torch

    name = "_assign_draft_token_budget"
    assign = functions(path, (name,), {"torch": torch})[name]

    def select(target: Any, draft: Any, tokens: Any, capacity: int) -> Any:
        requests, gamma = tokens.shape
        lengths = torch.full((requests,), gamma, dtype=torch.int32)
        if capacity == 0:
            return lengths.zero_()
        if capacity < requests * gamma:  # the engine calls it only then
            assign(confidences(target, draft), torch.arange(requests), lengths, capacity, gamma)
        return lengths

    return Selection(select, name="vllm-budget _assign_draft_token_budget", tensors=True)


TARGETS = {"sglang-topk": sglang, "vllm-budget": vllm}
