"""Limits that the kernels' machine code implies on an H200: counted, never timed; no GPU is used.

    python -m benchmarks.kernel_code [--vocab 131072] [--gamma 8] [--clock 1.75]
    python -m benchmarks.kernel_code --registers [block rrs ...]   # of every kernel, type and filter: hours

Triton compiles each kernel for compute capability 9.0 as it would be launched on 132 processors, and
cuobjdump (Triton's, or the CUDA toolkit's) disassembles it. The counts are of the code that reads the
vocabulary: the innermost loop that takes powers of 2, or the whole kernel if it has no such loop.

    resident    programs that a processor holds at once
    code        instructions of the whole kernel
    a logit     instructions per power of 2 in the code that reads the vocabulary; each logit takes one power
    in flight   bytes that a processor can have in flight, requested before the first power
    issue, ex2  ceilings in TB/s: 128 instructions or 16 powers a processor and cycle at that clock (GHz)
    loads       bits and how often
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any
from unittest import mock

from draftproof.theory.errors import BadInput

PROCESSORS, REGISTERS, WARPS, PROGRAMS = 132, 65536, 64, 32
"""Processors of an H200, and the resources of each."""

FILTERS = {"top_k": 20, "top_p": 0.9}
EVERY_FILTER = {
    "no filter": {},
    "top-k": {"top_k": 20},
    "top-p": {"top_p": 0.9},
    "min-p": {"min_p": 0.1},
    "all": {"top_k": 20, "top_p": 0.9, "min_p": 0.1},
    "greedy": {"temperature": 0.0},
}
DRAFTS = {"token": "chain", "block": "chain"}
DRAFTS |= {"specinfer": "tree+", "optimal": "tree+"}
"""Drafts of verifiers that are not made for a tree without replacement. Priority rules have strata too."""
CASES = (
    ("block", "chain", 64, {}),
    ("block", "chain", 64, FILTERS),
    ("block", "chain", 1, {}),
    ("rrs", "tree", 8, {}),
    ("traversal", "tree", 8, {}),
)
"""Verifier, draft, batch and filters."""

TITLE = "kernel            programs warps  regs resident  code a logit  in flight  issue   ex2 loads"


@dataclass(frozen=True)
class Code:
    """A kernel's machine code; `instructions` and later fields are of the part that reads the vocabulary."""

    kernel: str
    programs: int
    warps: int
    registers: int
    stack: int
    resident: int
    code: int
    instructions: int
    powers: int
    spills: int
    loads: dict[int, int]  # by width in bits
    ahead: int  # bytes a thread requests before its first power

    def line(self, clock: float) -> str:
        """A row of the table."""
        shape = f"{self.kernel:17}{self.programs:9}{self.warps:6}{self.registers:6}{self.resident:9}"
        if not self.powers:
            return f"{shape}{self.code:6}"
        a_logit = self.instructions / self.powers
        in_flight = self.resident * self.warps * 32 * self.ahead / 1024
        one = PROCESSORS * clock * 1e9 * 2 / 1e12  # TB/s when a processor reads 2 bytes a cycle
        loads = ", ".join(f"{bits}: {count}" for bits, count in self.loads.items())
        ceilings = f"{128 / a_logit * one:7.1f}{16 * one:6.1f}"
        return f"{shape}{self.code:6}{a_logit:8.1f}{in_flight:7.0f} KiB{ceilings} {loads}"


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--vocab", type=int, default=131072)
    parser.add_argument("--gamma", type=int, default=8)
    parser.add_argument("--clock", type=float, default=1.75)
    parser.add_argument("--registers", nargs="*", metavar="VERIFIER")
    given = parser.parse_args()
    if given.vocab < 1 or not 1 <= given.gamma < 64 or given.clock <= 0:
        parser.error("--vocab and --clock must be positive, --gamma from 1 to 63")
    try:
        compile_only()
    except BadInput as error:
        parser.error(str(error))
    import torch

    from benchmarks.cases import tree_of

    if given.registers is not None:
        registers(given.registers, given.vocab, given.gamma)
        return
    for name, draft, B, filters in CASES:
        print(f"\n{name}, {draft}, B = {B}, gamma = {given.gamma}, V = {given.vocab:,}, bfloat16")
        print(", ".join(f"{setting} {value}" for setting, value in filters.items()) or "no filter")
        print(TITLE)
        made = compiled(name, tree_of(draft, given.gamma), B, given.vocab, torch.bfloat16, **filters)
        once = {kernel: rest for kernel, *rest in made}  # the sweeps of all rounds are the same kernel
        for kernel, rest in once.items():
            print(read(kernel, *rest).line(given.clock))


def registers(names: list[str], vocab: int, gamma: int) -> None:
    """Prints the registers of each kernel, and the bytes of stack that a thread has for what does not fit."""
    import torch

    from benchmarks.cases import tree_of
    from draftproof.gpu.kernels import NAMES

    print("kernel             verifier         draft   type      filter     regs stack")
    for name, dtype in product(names or NAMES, (torch.bfloat16, torch.float16, torch.float32)):
        for draft, (label, filters) in product(
            [DRAFTS.get(name, "tree"), *["strata"] * ("optimal" in name)], EVERY_FILTER.items()
        ):
            seen = set()
            for kernel, *rest in compiled(name, tree_of(draft, gamma), 8, vocab, dtype, **filters):
                if kernel not in seen:
                    code = read(kernel, *rest)
                    line = f"{kernel:19}{name:17}{draft:8}{str(dtype)[6:]:10}{label:10}"
                    print(f"{line}{code.registers:5}{code.stack:6}", flush=True)
                seen.add(kernel)


def compile_only() -> None:
    """Makes Triton compile for compute capability 9.0 without launching anything.

    Call this first: when a kernel is defined it is decided whether it is compiled or interpreted.
    """
    os.environ["TRITON_INTERPRET"] = "0"
    disassembler()
    import triton
    from triton.backends.compiler import GPUTarget

    driver = mock.Mock()
    driver.get_current_target.return_value = GPUTarget("cuda", 90, 32)
    driver.get_current_device.return_value = driver.get_current_stream.return_value = 0
    triton.runtime.driver.set_active(driver)


def compiled(name: str, tree: Any, B: int, V: int, dtype: Any, **filters: Any) -> list[tuple[str, int, Any]]:
    """(name, programs, compiled kernel) of each launch that makes a step's noise and verifies it, from
    tensors without memory.
    """
    import torch
    from triton.runtime.jit import JITFunction

    from draftproof.gpu.kernels import grid, launch, noise
    from draftproof.gpu.sampling.rows import settings
    from draftproof.gpu.verify import VERIFIERS, Batch

    made: list[tuple[str, int, Any]] = []
    run = JITFunction.run

    def keep(self, *arguments, grid, warmup, **options):
        made.append((self.__name__, prod(grid), run(self, *arguments, grid=grid, warmup=True, **options)))

    with torch.device("meta"):
        N, I = tree.size, len(tree.inner)
        target, proposal = torch.empty(B, N, V, dtype=dtype), torch.empty(B, I, V, dtype=dtype)
        tokens, coins = torch.empty(B, N - 1, dtype=torch.long), torch.empty(B, N - 1).double()
        temperature, extra = torch.empty(B, 2), torch.empty(B).double()
        strata = torch.empty(B, I, V) if tree.stratified else None
    plan = mock.patch.object(launch.Launch, "_planned", lambda _, sums: sums.chunk(2, 3)[0].float())
    on_h200 = mock.patch.object(grid, "processors", return_value=PROCESSORS)
    with on_h200, plan, mock.patch.object(JITFunction, "run", keep):
        keys = torch.empty(B, 2, dtype=torch.long)
        noise.uniforms(keys, keys[:, 0].contiguous(), 2 * N - 1)
        sampling = settings(**filters)
        batch = Batch(tree, target, proposal, tokens, coins, extra, strata=strata)
        launch.launch(VERIFIERS[name], batch, temperature, sampling)
    return made


def disassembler() -> str:
    """The path of cuobjdump: Triton's own copy, or one on the path."""
    try:
        import triton
    except ImportError:
        raise BadInput("Triton is not installed: pip install 'draftproof[gpu]'") from None
    own = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    found = str(own) if own.exists() else shutil.which("cuobjdump")
    if not found:
        raise BadInput("no cuobjdump: neither Triton's package nor the path has one (CUDA toolkit)")
    return found


def read(kernel: str, programs: int, made: Any) -> Code:
    """The counts of one compiled kernel."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(made.asm["cubin"])
        dump = [disassembler(), "--dump-sass", "--dump-resource-usage", file.name]
        text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    used = {key: int(value) for key, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", text)}
    found = re.findall(r"/\*([0-9a-f]{4,})\*/ +(.*?) *;", text)
    lines = [(int(at, 16), what) for at, what in found if not what.startswith("NOP")]
    span = vocabulary(lines) if kernel != "opening" else []  # `opening` reads only results of chunks
    first = next((at for at, what in enumerate(span) if "MUFU.EX2" in what), 0)
    warps = made.metadata.num_warps
    of_warp = -(-used["REG"] // 8) * 8 * 32
    return Code(
        kernel,
        programs,
        warps,
        registers=used["REG"],
        stack=used["STACK"] + used["LOCAL"],
        resident=min(REGISTERS // (of_warp * warps), WARPS // warps, PROGRAMS),
        code=len(lines),
        instructions=len(span),
        powers=sum("MUFU.EX2" in what for what in span),
        spills=sum("LDL" in what or "STL" in what for what in span),
        loads=dict(sorted(Counter(widths(span)).items(), reverse=True)),
        ahead=sum(widths(span[:first])) // 8,
    )


def widths(code: list[str]) -> list[int]:
    """The widths in bits of the loads from global memory."""
    found = (re.search(r"LDG\.E(?:\.U?(\d+))?", what) for what in code)
    return [int(load[1] or 32) for load in found if load]


def vocabulary(lines: list[tuple[int, str]]) -> list[str]:
    """The innermost loop that takes powers of 2, or else all code, without code that only diverging
    warps run.
    """
    apart = [int(at, 16) for _, what in lines for at in re.findall(r"BRA\.DIV.* (0x[0-9a-f]+)", what)]
    lines = [(at, what) for at, what in lines if at < min(apart, default=1 << 32)]
    spans = [[what for _, what in lines]]
    for end, what in lines:
        back = re.search(r"BRA.* (0x[0-9a-f]+)", what)
        if back and int(back[1], 16) < end:
            spans.append([what for at, what in lines if int(back[1], 16) <= at <= end])
    return min((span for span in spans if any("MUFU.EX2" in what for what in span)), key=len, default=[])


if __name__ == "__main__":
    main()
