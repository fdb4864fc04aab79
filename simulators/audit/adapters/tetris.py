"""TETRIS: the selection of drafted tokens and the verification after it, by --path, the repository's folder.

Version: ZhaoxuanWu/Tetris acb77de, a fork of vLLM: `vllm/spec_decode/tetris.py` and, with verification,
`RejectionSampler` and `SpecDecodeWorker._verify_tokens`. Needs torch, and nothing of vLLM; the one function
of torch_scatter that it uses is replaced by ours.
Signature: `select_proposals_no_priority(capacity, proposals)` of proposals with `proposal_logprobs`
[R, gamma, V], `proposal_token_ids` [R, gamma] and `proposal_lens` [R], which it changes; returns them.
Checked: the joint law of a batch over one call: `tetris`, the selection, its tokens verified by the
project's own token verification; `tetris-verified`, the selection and the fork's own verification.
Not checked: how the capacity is chosen, seeded requests, FlashInfer's kernel, the scoring of kept tokens.
"""

import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import function_of, method
from draftproof.simulators.audit.targets.selection import Selection
from draftproof.theory.errors import BadInput


def scatter_max(values: Any, index: Any, dim_size: int) -> tuple[Any, None]:
    """The largest value at each index, 0 where there is none, as in torch_scatter."""
    import torch

    return torch.zeros(dim_size, dtype=values.dtype).scatter_reduce(0, index, values, "amax"), None


def selection(path: Path | None = None) -> Selection:
    """The selection alone."""
    select = _selected(path)
    return Selection(
        lambda *given: select(*given).proposal_lens, name="tetris select_proposals_no_priority", tensors=True
    )


def verified(path: Path | None = None) -> Selection:
    """The selection and the verification of the repository."""
    import torch

    select = _selected(path)
    layers = _file(path, "vllm/model_executor/layers")
    base = function_of(layers / "spec_decode_base_sampler.py", "vllm", "SpecDecodeStochasticBaseSampler")
    environment = {"VLLM_USE_FLASHINFER_SAMPLER": False}
    given = {
        "vllm.model_executor.layers.spec_decode_base_sampler": {"SpecDecodeStochasticBaseSampler": base},
        "vllm.envs": environment,
    }
    Sampler = function_of(layers / "rejection_sampler.py", "vllm", "RejectionSampler", given)
    space = {
        **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Tuple")},
        "torch": torch,
        "SpecDecodeStochasticBaseSampler": base,
        "split_batch_by_proposal_len": _split,
        "Step": object,
    }
    worker = _file(path, "vllm/spec_decode/spec_decode_worker.py")
    verify_tokens = method(worker, "_verify_tokens", space)

    def run(target: Any, draft: Any, tokens: Any, capacity: int) -> Any:
        requests, gamma = tokens.shape
        proposals = select(target, draft, tokens, capacity)
        lengths = proposals.proposal_lens.tolist()
        probabilities, sampled = torch.zeros_like(target), torch.full((requests, gamma + 1), -1)
        for r, length in enumerate(lengths):  # the target computes the rows of kept tokens and one more
            probabilities[r, : length + 1] = target[r, : length + 1]
            sampled[r, length] = torch.multinomial(target[r, length], 1)[0]
        scores = SimpleNamespace(
            probs=probabilities, token_ids=sampled, logprobs=probabilities.log(), hidden_states=None
        )
        sampler = Sampler(use_flashinfer=False)
        sampler.init_gpu_tensors(device="cpu")
        step = SimpleNamespace(batched_requests=[None] * requests)
        space["TRACER"] = SimpleNamespace(current_step=step)
        engine = SimpleNamespace(generators={}, spec_decode_sampler=sampler, acceptance_rate=None)
        words, _ = verify_tokens(engine, list(range(requests)), scores, proposals, gamma)
        return [[int(x) for x in word if x >= 0] for word in words.tolist()]

    return Selection(run, name="tetris-verified _verify_tokens", tensors=True, slow=True)


def _selected(path: Path | None) -> Any:
    given = {"torch_scatter": {"scatter_max": scatter_max}}
    select = function_of(
        _file(path, "vllm/spec_decode/tetris.py"), "vllm", "select_proposals_no_priority", given
    )

    def selected(target: Any, draft: Any, tokens: Any, capacity: int) -> Any:
        import torch

        lengths = torch.full((len(tokens),), tokens.shape[1])
        proposals = SimpleNamespace(
            proposal_probs=draft,
            proposal_logprobs=draft.log(),
            proposal_token_ids=tokens,
            proposal_lens=lengths,
        )
        return select(capacity, proposals)

    return selected


def _split(requests: list[Any], lengths: list[int]) -> Any:
    # vLLM's function: the requests that have drafted tokens, and the others, each with their places.
    some = [r for r in range(len(requests)) if lengths[r]]
    none = [r for r in range(len(requests)) if not lengths[r]]
    return ([requests[r] for r in some], some), ([requests[r] for r in none], none)


def _file(path: Path | None, name: str) -> Path:
    if path is None or not (path / name).exists():
        raise BadInput(f"{path or 'tetris'}: this adapter needs --path, the folder that has {name}")
    return path / name


TARGETS = {"tetris": selection, "tetris-verified": verified}
