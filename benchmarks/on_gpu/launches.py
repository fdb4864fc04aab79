"""One small launch of every kernel, for a checker of memory accesses and races.

    compute-sanitizer --tool memcheck python -m benchmarks.on_gpu.launches

Each verifier is run once on two requests with a vocabulary of 5,000 tokens, which
is no multiple of a block; with top-k and top-p only where that launches something else. Without a GPU it runs
in Triton's interpreter, where the checker sees nothing.
"""

import os

os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")  # so that each tensor has its own bounds

import torch

from benchmarks.cases import make
from draftproof.gpu.kernels import NAMES, verify
from draftproof.gpu.verify import named

VOCAB, GAMMA, BATCH = 5000, 2, 2
FILTERS = {"top_k": 20, "top_p": 0.9}


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for name in NAMES:
        draft = "tree" if "tree without replacement" in named(name).drafts else "chain"
        case = make(draft, GAMMA, VOCAB, BATCH, device, torch.bfloat16)
        verify(name, case)
        if name in ("block", "one-hot"):
            verify(name, case, **FILTERS)
        if device.type == "cuda":
            torch.cuda.synchronize()
        print(f"launched {name}", flush=True)
    print("all were launched")


if __name__ == "__main__":
    main()
