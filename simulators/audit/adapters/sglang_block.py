"""SGLang: block verification by the Triton kernel of chain verification, by --path.

Version: 0.5.23, wherever `chain_speculative_sampling_triton` has the parameter `block_verification`.
Signature: as in sglang.py, with `block_verification=True`.
Checked: as in sglang.py.
Not checked: as in sglang.py.
"""

from pathlib import Path

from simulators.audit.adapters.sglang import made
from simulators.audit.adapters.torch_chain import TorchChain

NAME = "sglang-block"
ABOUT = "block verification in SGLang's chain kernel (--path), under TRITON_INTERPRET=1"


def load(path: Path | None = None) -> TorchChain:
    """Block verification of the file at `path`."""
    return made(path, NAME, block_verification=True)
