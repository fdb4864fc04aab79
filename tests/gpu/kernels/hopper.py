"""Compiles every kernel of a few launches for compute capability 9.0, with no GPU there; prints what spills.

Run as a program of its own: whether a kernel is compiled or interpreted is settled when it is defined.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction

TOOL = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"


class NoGpu:
    """A driver that knows what it would compile for."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def main() -> None:
    triton.runtime.driver.set_active(NoGpu())
    found: dict[str, set[str]] = {}
    launched = JITFunction.run

    def compile_only(self, *arguments, grid, warmup, **settings):
        made = launched(self, *arguments, grid=grid, warmup=True, **settings)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            Path(file.name).write_bytes(made.asm["cubin"])
            used = subprocess.run([TOOL, "--dump-resource-usage", file.name], capture_output=True, text=True)
        line = next(line for line in used.stdout.splitlines() if "LOCAL:" in line)
        found.setdefault(self.__name__, set()).add(line)
        return made

    JITFunction.run = compile_only
    from gpu.draft import Tree
    from gpu.kernel_bench.case import tree_of
    from gpu.kernels import NAMES
    from gpu.kernels.launch import launch

    tree, chain, wide = Tree.of_shape([[[], []], [[]]]), Tree.chain(8), tree_of("tree", 8)
    drafts = {"token": chain, "block": chain, "greedy-block": chain, "specinfer": Tree.paths(2, 2)}
    small = [(name, drafts.get(name, tree), torch.bfloat16) for name in NAMES]
    for name, drafted, dtype in (*small, ("traversal", wide, torch.bfloat16), ("rrs", tree, torch.float32)):
        B, N, I, V = 2, drafted.size, len(drafted.inner or ()), 131072
        logits = [torch.empty(B, rows, V, dtype=dtype) for rows in (N, I)]
        drawn = torch.zeros(B, N - 1, dtype=torch.long)
        uniforms = torch.zeros(B, N - 1), torch.zeros(B)
        launch(name, drafted, *logits, torch.ones(B), drawn, *uniforms, chunk=8192)
    print(json.dumps({name: sorted(lines) for name, lines in found.items()}))


if __name__ == "__main__":
    main()
