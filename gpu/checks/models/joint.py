"""Enumerates and tests the joint law of the first tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, product
from math import prod
from typing import Any, TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.engine.loop import Decode
from draftproof.gpu.engine.output import texts
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators.support.anytime import ERROR, Process
from draftproof.theory.errors import BadInput

Word: TypeAlias = tuple[int, ...]
Known: TypeAlias = tuple[int, Sequence[int], dict[Word, float]]
"""A prompt's number, its token ids, and the law of the next tokens."""

WORDS = 4096
"""The largest number of words of an enumerated law."""

CLOSE = 1e-3
"""A prompt is skipped if the last token that top-k keeps and the first that it drops are this close in
log-probability, or if other tokens were kept at a top-p or min-p that differs by this share: rounding could
then change which tokens are kept."""


def logits_after(
    network: Any, prompt: Sequence[int], words: Sequence[Word], sampling: Sampling, vocab: int | None = None
) -> Tensor:
    """[n, V] float64: the logits after the prompt and each of n equally long words, by plain passes,
    processed with the words in their history; with `vocab` only the first ones of a row.
    """
    ids = torch.tensor([[*prompt, *word] for word in words], device=network.device)
    parts = [network(input_ids=part, use_cache=False).logits[:, -1:, :vocab] for part in ids.split(512)]
    history = History(sampling.processors, ids[:, : len(prompt)], ids.shape[1])
    history.add(ids[:, len(prompt) :])
    return history.processed(sampling, torch.cat(parts).double(), ids[:, None, :0], ids[:, :1] >= 0)[:, 0]


@torch.inference_mode()
def word_law(
    target: Model, prompt: Sequence[int], length: int, sampling: Sampling
) -> dict[Word, float] | None:
    """The law of the next `length` tokens, from plain passes without a cache; None if a set of kept tokens is
    `CLOSE` to another.

    Needs top_k: the words are the products of the kept tokens, top_k ** length of them.
    """
    law: dict[Word, float] = {(): 1.0}
    for _ in range(length):
        logits = logits_after(target.network, prompt, list(law), sampling, target.vocab)
        best = logits.topk(min(sampling.top_k + 1, target.vocab)).values
        if best.shape[1] > sampling.top_k and bool((best[:, -2] - best[:, -1] < CLOSE).any()):
            return None
        made = sampling.rows(logits)
        for share in (1 - CLOSE, 1 + CLOSE):
            top_p = min(1.0, sampling.top_p * share) if sampling.top_p < 1 else 1.0
            near = replace(sampling, top_p=top_p, min_p=min(1.0, sampling.min_p * share))
            if not torch.equal(near.rows(logits) > 0, made > 0):
                return None
        rows = zip(law.items(), made, strict=True)
        law = {
            (*word, x): mass * float(row[x])
            for (word, mass), row in rows
            for x in row.nonzero().flatten().tolist()
        }
    return law


def laws(
    target: Model, prompts: Sequence[Sequence[int]], length: int, sampling: Sampling, most: int
) -> list[Known]:
    """The first `most` prompts whose law can be enumerated, and their laws; BadInput if there is none."""
    if sampling.top_k**length > WORDS:
        raise BadInput(f"{sampling.top_k} ** {length} words are too many: take a smaller --top-k or --length")
    short = [(n, prompt) for n, prompt in enumerate(prompts) if len(prompt) + length < target.context]
    every = ((n, prompt, word_law(target, prompt, length, sampling)) for n, prompt in short)
    found = list(islice(((n, prompt, law) for n, prompt, law in every if law), most))
    if not found:
        raise BadInput(
            "no prompt is short enough and has clearly separated likely tokens, so no law can be enumerated"
        )
    return found


@dataclass
class Joint:
    """The evidence at one prompt. `total_variation` is between the observed frequencies and the law; for a
    lossless verifier it is noise alone.
    """

    prompt: int
    top_k: int
    words: int
    runs: int
    log_e: float
    rejected: bool
    detectable: float
    total_variation: float


def observe(
    decode: Decode,
    known: Sequence[Known],
    sampling: Sampling,
    runs: int,
    batch: int,
    seed: int,
    error: float = ERROR,
    requests: int = 1,
    together: int = 1,
) -> list[Joint]:
    """Decodes batches of so many requests `runs` times, or until a law is rejected: the joint law of the
    first `together` requests, of the next ones, and so on. The prompts are those of `known` in turn; `batch`
    rows are decoded at once. `error` is shared by the laws.
    """
    asked = list(islice(cycle(known), requests))
    starts = range(0, requests - together + 1, together)
    joint = {at: _product([law for *_, law in asked[at : at + together]]) for at in starts}
    processes = {at: Process(len(law), error / len(joint)) for at, law in joint.items()}
    length, many = len(next(iter(asked[0][2]))), max(1, batch // requests)
    for start in range(0, runs, many):
        count = min(many, runs - start)
        seeds = list(range(seed + start * requests, seed + (start + count) * requests))
        prompts = [ids for _, ids, _ in asked] * count
        steps = decode(prompts, sampling=sampling, max_new_tokens=length, ignore_end=True, seed=seeds)
        words = list(map(tuple, texts(steps, len(seeds))))
        for first, (at, process) in product(range(0, len(words), requests), processes.items()):
            if not process.rejected:
                seen = tuple(words[first + at : first + at + together])
                process.update(seen, joint[at].get(seen, 0.0))
        if any(process.rejected for process in processes.values()):
            break
    found = []
    for at, process in processes.items():
        law, seen = joint[at], {word: count / process.runs for word, count in process.counts.items()}
        apart = sum(abs(seen.get(word, 0.0) - law.get(word, 0.0)) for word in {*seen, *law}) / 2
        evidence = process.runs, process.log_e, process.rejected, process.detectable
        found.append(Joint(asked[at][0], sampling.top_k, len(law), *evidence, apart))
    return found


def _product(laws: Sequence[Mapping[Word, float]]) -> dict[tuple[Word, ...], float]:
    every = (zip(*each, strict=True) for each in product(*(law.items() for law in laws)))
    return {tuple(words): prod(masses) for words, masses in every}
