"""vLLM's second model runner, block verification: the same file as in vllm_v2.py, by --path.

Version: 0.21 to 0.33, wherever `rejection_sample` has the parameter `use_block_verification`.
Signature: as in vllm_v2.py, with `use_block_verification=True`.
Checked: as in vllm_v2.py. Where the coin of a draft position is keyed by the position alone, a
position that was verified, discarded and drafted again meets it twice: --iterations 2.
Not checked: as in vllm_v2.py.
"""

from pathlib import Path

from simulators.audit.adapters.torch_chain import TorchChain
from simulators.audit.adapters.vllm_v2 import made

NAME = "vllm-v2-block"
ABOUT = "block verification in vLLM's worker/gpu/spec_decode/rejection_sampler_utils.py (--path)"


def load(path: Path | None = None) -> TorchChain:
    """Block verification of the file at `path`."""
    return made(path, NAME, block=True)
