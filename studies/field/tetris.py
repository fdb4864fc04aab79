"""ZhaoxuanWu/Tetris, a fork of vLLM: the selection of drafted tokens (`select`), and the
selection with the fork's own verification (`verified`). torch_scatter's one function is replaced by ours.

Not run: how the capacity is chosen, seeded requests, FlashInfer's kernel, the scoring of kept tokens.
"""

import typing
from types import SimpleNamespace

import torch
from clones import clone
from engines import function_of, method

from draftproof.simulators.audit.targets.batches import Selection


def scatter_max(values, index, dim_size):
    """The largest value at each index, 0 where there is none, as in torch_scatter."""
    return torch.zeros(dim_size, dtype=values.dtype).scatter_reduce(0, index, values, "amax"), None


def split(requests, lengths):
    """vLLM's function: the requests that have drafted tokens, and the others, each with their places."""
    some = [r for r in range(len(requests)) if lengths[r]]
    none = [r for r in range(len(requests)) if not lengths[r]]
    return ([requests[r] for r in some], some), ([requests[r] for r in none], none)


FORK = clone("ZhaoxuanWu/Tetris", "vllm")
LAYERS = FORK / "model_executor/layers"
select_proposals = function_of(
    FORK / "spec_decode/tetris.py",
    "vllm",
    "select_proposals_no_priority",
    {"torch_scatter": {"scatter_max": scatter_max}},
)
Base = function_of(LAYERS / "spec_decode_base_sampler.py", "vllm", "SpecDecodeStochasticBaseSampler")
Sampler = function_of(
    LAYERS / "rejection_sampler.py",
    "vllm",
    "RejectionSampler",
    {
        "vllm.model_executor.layers.spec_decode_base_sampler": {"SpecDecodeStochasticBaseSampler": Base},
        "vllm.envs": {"VLLM_USE_FLASHINFER_SAMPLER": False},
    },
)
names = {
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Tuple")},
    "torch": torch,
    "SpecDecodeStochasticBaseSampler": Base,
    "split_batch_by_proposal_len": split,
    "Step": object,
}
verify_tokens = method(FORK / "spec_decode/spec_decode_worker.py", "_verify_tokens", names)


def selected(draft_probs, draft_tokens, capacity):
    proposals = SimpleNamespace(
        proposal_probs=draft_probs,
        proposal_logprobs=draft_probs.log(),
        proposal_token_ids=draft_tokens,
        proposal_lens=torch.full((len(draft_tokens),), draft_tokens.shape[1]),
    )
    return select_proposals(capacity, proposals)


def select(target_probs, draft_probs, draft_tokens, capacity):
    return selected(draft_probs, draft_tokens, capacity).proposal_lens


def with_verification(target_probs, draft_probs, draft_tokens, capacity):
    requests, gamma = draft_tokens.shape
    proposals = selected(draft_probs, draft_tokens, capacity)
    rows, sampled = torch.zeros_like(target_probs), torch.full((requests, gamma + 1), -1)
    for r, length in enumerate(proposals.proposal_lens.tolist()):
        rows[r, : length + 1] = target_probs[r, : length + 1]  # those of kept tokens and one more
        sampled[r, length] = torch.multinomial(target_probs[r, length], 1)[0]
    scores = SimpleNamespace(probs=rows, token_ids=sampled, logprobs=rows.log(), hidden_states=None)
    sampler = Sampler(use_flashinfer=False)
    sampler.init_gpu_tensors(device="cpu")
    names["TRACER"] = SimpleNamespace(current_step=SimpleNamespace(batched_requests=[None] * requests))
    engine = SimpleNamespace(generators={}, spec_decode_sampler=sampler, acceptance_rate=None)
    words, _ = verify_tokens(engine, list(range(requests)), scores, proposals, gamma)
    return [[int(x) for x in word if x >= 0] for word in words.tolist()]


verified = Selection(with_verification, name="tetris verified", tensors=True, slow=True)
