"""InternLM/lmdeploy 0.18: the CUDA backend's `forward` with its Triton kernels, one request that samples.

The exponential race for the recovered token is shared by all positions, as in the engine. Not run: the
compiled kernels, batches, the greedy branch, drafts without probabilities. The engine draws the bonus token
elsewhere, so it is drawn from the last row here. Needs triton.
"""

from clones import clone, method

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import (
    TorchChain,
    function_of,
    functions,
    with_bonus,
)
from draftproof.simulators.audit.rounding import SHIFT

kernels.interpreted()

import torch

FOLDER = clone("InternLM/lmdeploy", "lmdeploy/pytorch")
BACKEND, KERNELS = (FOLDER / place / "cuda/rejection_sampling.py" for place in ("backends", "kernels"))
GIVEN = {"lmdeploy.pytorch.backends.rejection_sampling": {"PLACEHOLDER_TOKEN_ID": -1}}
launch = function_of(KERNELS, "lmdeploy", "random_rejection_sample", GIVEN)
namespace = {**launch.__globals__, "torch": torch}
functions(BACKEND, ("_allocate_outputs",), namespace)
sample = method(BACKEND, "forward", namespace)


def sampled(target, draft, tokens):
    logits, bonus = target[:-1].log() + SHIFT, torch.full((1,), draft.shape[1])
    given = {"is_greedy": None, "draft_probs": draft[None].contiguous()}
    words, *_ = sample(None, logits[None], tokens[None], bonus, **given)
    return with_bonus(words[0], target[-1])


verify = TorchChain(sampled, name="lmdeploy forward", slow=True)
