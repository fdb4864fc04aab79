"""NVIDIA/TensorRT-LLM: rejection and residual of its sampler, in torch without pinned memory."""

from clones import Unpinned
from engines import theirs

code = theirs("NVIDIA/TensorRT-LLM", "tensorrt_llm/_torch/pyexecutor/sampling_utils.py")
code.get_rejected_indices.__globals__["torch"] = Unpinned()


def verify(target_probs, draft_probs, draft_tokens, generator):
    rejected = code.get_rejected_indices(draft_probs, target_probs, generator, draft_tokens.tolist())
    if len(rejected):
        return int(rejected[0]), code.sample_rejected(draft_probs, target_probs, generator, int(rejected[0]))
    return len(draft_tokens), target_probs[-1]
