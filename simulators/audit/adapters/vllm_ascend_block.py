"""vllm-ascend: block verification in PyTorch, `vllm_ascend/sample/rejection_sampler.py`, by --path.

Version: the file as of August 2026 (`sample_recovered_tokens_blockwise_pytorch`), and earlier ones
that recover tokens without the prefix weight (`sample_recovered_tokens_pytorch`).
Signature: as in vllm_ascend.py, with `rejection_random_sample_block_verify_pytorch`.
Checked: the law of one request, as in vllm_ascend.py. The function compares products of ratios
with products of uniforms, which is not block verification: expect it to be found lossy.
Not checked: as in vllm_ascend.py.
"""

from pathlib import Path

from simulators.audit.adapters.torch_chain import TorchChain
from simulators.audit.adapters.vllm_ascend import made

NAME = "vllm-ascend-block"
ABOUT = "block verification in vllm_ascend/sample/rejection_sampler.py (--path)"


def load(path: Path | None = None) -> TorchChain:
    """Block verification of the file at `path`."""
    names = (
        "sample_recovered_tokens_pytorch",
        "sample_recovered_tokens_blockwise_pytorch",
        "rejection_random_sample_block_verify_pytorch",
    )
    return made(path, names, NAME)
