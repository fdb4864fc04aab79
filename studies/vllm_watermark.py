"""vLLM's watermark sampler, in and out of speculation, judged over all keys.

    VLLM=.../site-packages/vllm draftproof audit studies/vllm_watermark.py:plain --loop --vocab 2 --depth 2

The source of release 0.32 runs as it is: `DualKeyGumbelWatermarker` (in torch, as on devices without CUDA),
`draft_watermarking_mask` and `repeated_context_mask` (for the CPU). For the Philox function stands a
generator that is seeded with key and context, a named coin to the audit. Ours are the loop and the rejection
of drafts, which vLLM has as a kernel. Context width 1, deduplication `single_turn`, the default.

`plain` decodes without drafts. `token` has token verification, which is what vLLM allows with a watermark,
`block` block verification, which it refuses. `unspared` is `token` with deduplication `none`.
"""

import hashlib
import os
from pathlib import Path

import torch
from field.engines import function_of, functions

VLLM = Path(os.environ["VLLM"])
WIDTH, LONGEST = 1, 64


class Named:
    """A pseudorandom function: one generator for each key and context."""

    def __init__(self, key):
        self.key = key

    def uniform(self, contexts, vocabulary):
        return torch.stack([self._row(context, len(vocabulary)) for context in contexts.tolist()])

    def _row(self, context, size):
        digest = hashlib.sha256(repr((self.key, context)).encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
        return torch.rand(size, generator=generator)


def _watermarker():
    watermarker = function_of(VLLM / "v1/watermarking/watermarker.py", "vllm", "Watermarker")
    own = watermarker.sample.__globals__
    given = {
        "vllm.config.watermarking": {"derive_watermark_key": lambda key, domain: (key, domain)},
        "vllm.v1.watermarking.prfs": {"PhiloxPRF": Named, "create_prf": lambda _, key: Named(key)},
        "vllm.v1.watermarking.watermarker": {
            name: own[name]
            for name in ("RandomSampler", "SupportsSpeculativeDecoding", "Watermarker", "WatermarkSample")
        },
    }
    return function_of(VLLM / "v1/watermarking/gumbel.py", "vllm", "DualKeyGumbelWatermarker", given)(
        7, WIDTH
    )


BOTH = _watermarker()
MASKS = functions(
    VLLM / "v1/worker/gpu/sample/watermark.py",
    ("_repeated_context_mask_cpu", "repeated_context_mask", "draft_watermarking_mask"),
    {"torch": torch},
)


def sampled(keyed, logits, context, fresh):
    """A token by vLLM's watermarker, or by its ordinary sampler where the context is spared."""
    return int(keyed.sample(logits[None], context, drawn, torch.tensor([fresh])).token_ids[0])


def drawn(logits):
    """The ordinary sampler."""
    return torch.multinomial(logits.softmax(-1), 1)[:, 0]


def known(text):
    """The arguments of vLLM's masks for one request without a prompt."""
    tokens = torch.zeros(1, LONGEST, dtype=torch.int64)
    tokens[0, : len(text)] = torch.tensor(text, dtype=torch.int64)
    return (
        tokens,
        torch.zeros(1, dtype=torch.int64),
        torch.zeros(1, dtype=torch.int64),
        torch.tensor([len(text)]),
    )


def context_of(text):
    return torch.tensor([[-1] * WIDTH + text][0][-WIDTH:])[None]


def loop(verify, spare=True):
    """Generation with drafts that `verify` judges; without drafts if it is None."""

    def generate(target, draft, prompt, length, gamma):
        text = []
        while len(text) < length:
            drafted, q = [], []
            prior = torch.zeros(1, max(gamma, 1), WIDTH, dtype=torch.int64)
            for step in range(gamma if verify else 0):
                q.append(draft.row(text + drafted))
                at, steps = context_of(text + drafted), torch.tensor([step])
                keyed = MASKS["draft_watermarking_mask"](
                    *known(text), prior, at, steps, torch.tensor([True]), None, False
                )
                drafted.append(sampled(BOTH.draft_watermarker, q[-1], at, spare and not bool(keyed[0])))
            p = [target.row(text + drafted[:n]) for n in range(len(drafted) + 1)]
            kept, residual = verify(p, q, drafted) if verify else (0, p[0])
            contexts = torch.cat([context_of(text + drafted[:n]) for n in range(len(drafted) + 1)])
            local, rows = torch.arange(len(drafted) + 1), len(drafted) + 1
            tokens, request, prompts, total = known(text)
            several = {"local_positions": local, "num_speculative_steps": gamma} if verify else {}
            repeated = MASKS["repeated_context_mask"](
                tokens, request.expand(rows), prompts, total, contexts, None, history_offsets=local, **several
            )
            fresh = spare and bool(repeated[kept])
            extra = sampled(BOTH.target_watermarker, residual, contexts[kept : kept + 1], fresh)
            text = [*text, *drafted[:kept], extra]
        return text[:length]

    return generate


def by_token(p, q, drafted):
    for i, x in enumerate(drafted):
        P, Q = p[i].softmax(-1), q[i].softmax(-1)
        if not torch.rand(()) < P[x] / Q[x]:
            return i, (P - Q).clamp_min(0).log()
    return len(drafted), p[-1]


def by_block(p, q, drafted):
    P, Q, w = [row.softmax(-1) for row in p], [row.softmax(-1) for row in q], [torch.ones(())]
    for i, x in enumerate(drafted):
        w.append((w[-1] * P[i][x] / Q[i][x]).clamp_max(1))
    if torch.rand(()) < w[-1]:
        return len(drafted), p[-1]
    for i in reversed(range(len(drafted))):
        residual = (w[i] * P[i] - Q[i]).clamp_min(0)
        if i == 0 or torch.rand(()) < residual.sum() / (residual.sum() + 1 - w[i]):
            return i, residual.log()
    raise AssertionError


plain, token, block, unspared = loop(None), loop(by_token), loop(by_block), loop(by_token, spare=False)
