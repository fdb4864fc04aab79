"""InternLM/lmdeploy: `forward` of the CUDA backend, `lmdeploy/pytorch/backends/cuda/rejection_sampling.py`,
with its Triton kernels, `lmdeploy/pytorch/kernels/cuda/rejection_sampling.py`.

Version: 0.18. Needs torch and triton; the files' own imports from LMDeploy are replaced.
Signature: forward(self, target_logits [batch, gamma, V], draft_token_ids, bonus_token_ids, is_greedy,
draft_probs); returns (tokens padded with -1, number rejected, last token).
Checked: the law of one request that samples, with its kernels in the interpreter. The exponential race for
the recovered token is followed exactly; all positions share it, as in the engine.

Not checked: the compiled kernels, batches, the greedy branch, drafts without probabilities. The engine draws
the bonus token elsewhere, so this adapter draws it from the last row.
"""

import torch
from clones import clone
from engines import TorchChain, function_of, functions, interpreted, method, with_bonus

from draftproof.simulators.audit.rounding import SHIFT

FOLDER = clone("InternLM/lmdeploy", "lmdeploy/pytorch")
GIVEN = {"lmdeploy.pytorch.backends.rejection_sampling": {"PLACEHOLDER_TOKEN_ID": -1}}
FILE = "cuda/rejection_sampling.py"

interpreted()
launch = function_of(FOLDER / "kernels" / FILE, "lmdeploy", "random_rejection_sample", GIVEN)
namespace = {**launch.__globals__, "torch": torch}
functions(FOLDER / "backends" / FILE, ("_allocate_outputs",), namespace)
sample = method(FOLDER / "backends" / FILE, "forward", namespace)


def forward(target, draft, tokens):
    logits, bonus = target[:-1].log() + SHIFT, torch.full((1,), draft.shape[1])
    given = {"is_greedy": None, "draft_probs": draft[None].contiguous()}
    words, *_ = sample(None, logits[None], tokens[None], bonus, **given)
    return with_bonus(words[0], target[-1])


verify = TorchChain(forward, name="lmdeploy forward", slow=True)
