"""vLLM's watermark kernels as they are, in Triton's interpreter, beside torch forms that are judged exactly.

    VLLM=.../site-packages/vllm python studies/field/vllm_watermark_kernels.py

The files of release 0.32 run unmodified: `philox_gumbel_sample` with the Philox function, the kernel of
repeated contexts, and `rejection_sample` with watermarked recovery, by token and by block verification. Out
of speculation: the kernel draws what the torch form draws under the same key and context. In speculation: the
kernel of contexts says of every short text and draft what its reference says; as many drafted tokens are kept
with a watermark as without; the token after them is the torch form's draw from the residual under the key, or
the ordinary one where the context is spared. So the kernels have the law over keys of the torch form
(`studies/vllm_watermark.py`). Not checked: compiled kernels, temperatures, float64, caches of logits.
"""

import os
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from engines import function_of, interpreted
from vllm_kernels import device_functions

WIDTH, DEPTH, KEY = 1, 2, 0x123456789ABCDEF0
TINY = torch.finfo(torch.float32).tiny
GPU = "vllm.v1.worker.gpu.sample."


def kernels(folder: Path) -> SimpleNamespace:
    """vLLM's functions, each with the names of the files that it imports."""
    triton: Any = interpreted()
    language = {"triton": triton, "tl": triton.language, "HAS_TRITON": True, "tldevice": device_functions()}
    given: dict[str, dict[str, Any]] = {"vllm.triton_utils": language}

    def load(file: str, name: str) -> Any:
        found = function_of(folder / f"{file}.py", "vllm", name, given)
        given[f"vllm.{file.replace('/', '.')}"] = found.__globals__
        return found

    load("v1/watermarking/prfs/base", "uint32_to_uniform")
    uniform = load("v1/watermarking/prfs/philox", "_philox_uniform")
    load("v1/worker/gpu/sample/gumbel", "gumbel_sample")
    sample = load("v1/worker/gpu/sample/watermark", "philox_gumbel_sample")
    reject = load("v1/worker/gpu/spec_decode/rejection_sampler_utils", "rejection_sample")
    own = sample.__globals__
    return SimpleNamespace(
        uniform=uniform,
        sample=sample,
        reject=reject,
        mask=own["_repeated_context_mask_kernel"],
        reference=own["repeated_context_mask"],
    )


def drawn(engine: SimpleNamespace, logits: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
    """The torch form of the sampler, as `GumbelWatermarker` has it for devices without CUDA."""
    uniforms = engine.uniform(KEY & 0xFFFFFFFF, KEY >> 32, contexts, torch.arange(logits.shape[-1]))
    return torch.argmax(logits - torch.log(-torch.log(uniforms.clamp_min(TINY))), dim=-1)


def alone(engine: SimpleNamespace, count: int = 60) -> list[bool]:
    """Whether kernel and torch form draw the same, row by row, from one block of tokens and from two."""
    made = torch.Generator().manual_seed(1)
    same = []
    for rows, vocab, width in ((count, 5, 1), (count // 6, 1500, 4)):
        logits = 3 * torch.randn(rows, vocab, generator=made)
        contexts = torch.randint(-1, 40, (rows, width), generator=made)
        same += (engine.sample(logits, contexts, KEY) == drawn(engine, logits, contexts)).tolist()
    return same


def repeated(engine: SimpleNamespace, longest: int = 3) -> list[bool]:
    """Whether kernel and reference agree on the contexts of all texts of two tokens with all their drafts."""
    texts = [text for n in range(longest + 1) for text in product((0, 1), repeat=n)]
    cases = [*product(texts, product((0, 1), repeat=DEPTH))]
    history = torch.zeros(len(cases), longest, dtype=torch.int64)
    for r, (text, _) in enumerate(cases):
        history[r, : len(text)] = torch.tensor(text, dtype=torch.int64)
    lengths = torch.tensor([len(text) for text, _ in cases])
    local = torch.arange(DEPTH + 1).repeat(len(cases))
    requests = torch.arange(len(cases)).repeat_interleave(DEPTH + 1)
    contexts = torch.tensor(
        [[(-1, *text, *draft[:n])[-1]] for text, draft in cases for n in range(DEPTH + 1)], dtype=torch.int64
    )
    none = torch.zeros_like(lengths)
    want = engine.reference(
        history, requests, none, lengths, contexts,
        history_offsets=local, local_positions=local, num_speculative_steps=DEPTH,
    )  # fmt: skip
    found = torch.empty(len(requests), dtype=torch.bool)
    engine.mask[(len(requests),)](
        found, history, history.stride(0), requests, none, lengths, local, local.stride(0),
        contexts, contexts.stride(0), local, None, 0, 0, None, 0, None,
        CONTEXT_WIDTH=WIDTH, NUM_SPECULATIVE_STEPS=DEPTH, MAX_HISTORY=0, INCLUDE_PROMPT=False,
        SKIP_PARTIAL_CONTEXT=False, HAS_HISTORY_OFFSETS=True, SPECULATIVE_CONTEXTS=True, DRAFT_CONTEXTS=False,
        BLOCK=512,
    )  # fmt: skip
    return (found == want).tolist()


def recovered(engine: SimpleNamespace, block: bool, count: int = 40, vocab: int = 4) -> list[bool]:
    """Whether a watermark leaves the number of kept tokens as it is, and the token after them is the torch
    form's draw from the residual, or without a watermark where its context is spared.
    """
    made, rows = torch.Generator().manual_seed(2 + block), DEPTH + 1
    p = torch.randn(count, rows, vocab, generator=made).softmax(-1)
    q = torch.randn(count, DEPTH, vocab, generator=made).softmax(-1)
    x = torch.multinomial(q.flatten(0, 1), 1, generator=made).view(count, DEPTH)
    contexts = torch.randint(0, 40, (count * rows, WIDTH), generator=made)
    spared = torch.rand(count * rows, generator=made) < 0.3
    requests = torch.arange(count)
    arguments = (
        p.log().flatten(0, 1),
        q.log(),
        torch.cat([torch.zeros(count, 1, dtype=torch.int64), x], 1).flatten(),
        torch.arange(0, count * rows + 1, rows, dtype=torch.int32),
        torch.arange(rows).repeat(count) + 7,
        requests,
        requests.repeat_interleave(rows),
        torch.arange(rows).repeat(count),
        torch.ones(count),
        torch.randint(0, 2**31, (count,), generator=made),
        DEPTH,
    )
    watermark = {
        "contexts": contexts,
        "watermarking": torch.ones(count, dtype=torch.bool),
        "watermarking_skip_mask": spared,
        "watermark_key": KEY,
    }
    plain, kept_plain = engine.reject(*arguments, use_block_verification=block)
    words, kept = engine.reject(*arguments, use_block_verification=block, **watermark)
    same = (kept == kept_plain).tolist()
    for r in range(count):
        n, w = int(kept[r]) - 1, torch.ones(())
        for i in range(n if block else 0):
            w = (w * p[r, i, x[r, i]] / q[r, i, x[r, i]]).clamp_max(1)
        row = p[r, n] if n == DEPTH else (w * p[r, n] - q[r, n]).clamp_min(0)
        want = drawn(engine, row.log()[None], contexts[r * rows + n][None])[0]
        want = plain[r, n] if spared[r * rows + n] else want
        same.append(bool(words[r, n] == want) and words[r, :n].tolist() == x[r, :n].tolist())
    return same


def main() -> None:
    """Prints how many cases agree."""
    engine = kernels(Path(os.environ["VLLM"]))
    for what, same in (
        ("alone, draws of the torch form", alone(engine)),
        ("repeated contexts, of the reference", repeated(engine)),
        ("token verification, kept tokens and recovery", recovered(engine, False)),
        ("block verification, kept tokens and recovery", recovered(engine, True)),
    ):
        print(f"{what}: {sum(same)} of {len(same)}")


if __name__ == "__main__":
    main()
