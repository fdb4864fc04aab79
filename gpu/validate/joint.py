"""The joint law of the first tokens: enumerated from plain passes, and tested on what came out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

from draftproof.gpu.engine.loop import Decode
from draftproof.gpu.engine.output import texts
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.simulators.anytime import ERROR, Process
from draftproof.theory.errors import BadInput

Word: TypeAlias = tuple[int, ...]

Known: TypeAlias = tuple[int, Sequence[int], dict[Word, float]]
"""A prompt's number, its token ids, and the law of what comes next."""

CLOSE = 1e-3
"""A prompt is left out where the last kept token and the first dropped one are this close in log-probability:
rounding could then change what is kept."""


def logits_after(model: Model, prompt: Sequence[int], words: Sequence[Word], vocab: int) -> torch.Tensor:
    """[n, vocab]: the logits after the prompt and each of n words of one length, from plain passes."""
    ids = torch.tensor([[*prompt, *word] for word in words], device=model.device)
    parts = [model.network(input_ids=part, use_cache=False).logits[:, -1, :vocab] for part in ids.split(512)]
    return torch.cat(parts)


@torch.inference_mode()
def word_law(
    target: Model, prompt: Sequence[int], length: int, sampling: Sampling
) -> dict[Word, float] | None:
    """The law of the next `length` tokens, from plain passes without a cache; None where a kept set is close.

    Needs top_k: the words are the products of the kept tokens, top_k ** length of them.
    """
    law: dict[Word, float] = {(): 1.0}
    for _ in range(length):
        words = list(law)
        logits = logits_after(target, prompt, words, target.vocab)
        best = logits.double().topk(min(sampling.top_k + 1, target.vocab)).values
        if best.shape[1] > sampling.top_k and bool((best[:, -2] - best[:, -1] < CLOSE).any()):
            return None
        rows = sampling.rows(logits.double())
        after: dict[Word, float] = {}
        for word, row in zip(words, rows, strict=True):
            tokens = row.nonzero().flatten().tolist()
            after |= {(*word, x): law[word] * float(row[x]) for x in tokens}
        law = after
    return law


@dataclass
class Joint:
    """One prompt's evidence: runs, the e-value's logarithm at the end and at most, what was detectable."""

    prompt: int
    top_k: int
    words: int
    runs: int
    log_e: float
    rejected: bool
    detectable: float
    total_variation: float


def observe(
    decode: Decode, prompt: Known, sampling: Sampling, runs: int, batch: int, seed: int, error: float = ERROR
) -> Joint:
    """Decodes one prompt (its number, its ids, its law) `runs` times, a batch of rows at a time, or until
    the law is rejected. `total_variation` is between the frequencies and the law: noise where it is lossless.
    """
    number, ids, law = prompt
    length = len(next(iter(law)))
    process = Process(len(law), error)
    for start in range(0, runs, batch):
        rows = min(batch, runs - start)
        seeds = [seed + start + row for row in range(rows)]
        steps = decode([ids] * rows, sampling=sampling, max_new_tokens=length, ignore_end=True, seed=seeds)
        for text in texts(steps, rows):
            if not process.rejected:
                process.saw(tuple(text), law.get(tuple(text), 0.0))
        if process.rejected:
            break
    spread = [
        abs(process.counts[word] / process.runs - law.get(word, 0.0)) for word in {*law, *process.counts}
    ]
    evidence = process.runs, process.log_e, process.rejected, process.detectable
    return Joint(number, sampling.top_k, len(law), *evidence, sum(spread) / 2)


def laws(
    target: Model, prompts: Sequence[Sequence[int]], length: int, sampling: Sampling, most: int
) -> list[Known]:
    """Up to `most` prompts whose law can be enumerated, with their numbers; BadInput where there is none."""
    if sampling.top_k**length > 4096:
        raise BadInput(f"{sampling.top_k} ** {length} words are too many: take a smaller --top-k or --length")
    found = []
    for number, prompt in enumerate(prompts):
        if len(found) < most and len(prompt) + length < target.context:
            law = word_law(target, prompt, length, sampling)
            if law is not None:
                found.append((number, prompt, law))
    if not found:
        raise BadInput(
            "no prompt is short enough, and clear enough about its top-k tokens, to enumerate its law"
        )
    return found
