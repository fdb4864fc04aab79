"""The law that one step of a rule on chains gives the first tokens, enumerated: how wrong is a lossy one?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.validate.joint import Known, Word, logits_after, word_law
from draftproof.gpu.verify import Verifier
from draftproof.gpu.verify.residual import excess
from draftproof.gpu.verify.stopping import stop_law
from draftproof.theory.errors import BadInput


@dataclass(frozen=True)
class Ahead:
    """What two models say behind a prompt: rows in float64 by word, over the ids that any of them keeps.

    Words are tuples of places in the rows, not of ids. target has every word of up to some length that the
    target's kept tokens make, proposal those that are shorter.
    """

    target: Mapping[Word, Tensor]
    proposal: Mapping[Word, Tensor]


@torch.inference_mode()
def look_ahead(target: Model, drafter: Model, prompt: Sequence[int], sampling: Sampling, depth: int) -> Ahead:
    """The rows after all words of up to `depth` kept tokens, and the drafter's after those shorter."""
    rows: dict[Model, dict[Word, Tensor]] = {target: {}, drafter: {}}
    words: list[Word] = [()]
    for length in range(depth + 1):
        for model in (target, drafter) if length < depth else (target,):
            seen = sampling.rows(logits_after(model, prompt, words, target.vocab).double()).cpu()
            rows[model] |= dict(zip(words, seen, strict=True))
        words = [(*word, x) for word in words for x in rows[target][word].nonzero().flatten().tolist()]
    every = [row > 0 for each in rows.values() for row in each.values()]
    ids = torch.stack(every).any(0).nonzero().flatten()
    place = {x: at for at, x in enumerate(ids.tolist())}

    def narrow(found: dict[Word, Tensor]) -> dict[Word, Tensor]:
        return {tuple(place[x] for x in word): row[ids] for word, row in found.items()}

    return Ahead(narrow(rows[target]), narrow(rows[drafter]))


def total_variation(verifier: Verifier, ahead: Ahead, gamma: int) -> float:
    """Between the first gamma tokens after one step of `gamma` drafted ones and the target's own law of them.

    A block that is shorter is completed by the target. The rule is taken as it is written: independent coins
    by its rates, Y ~ norm((p - cut q)+).
    """
    law: dict[Word, float] = {}
    for word, mass in _blocks(verifier, ahead, gamma):
        for whole, part in _words(ahead.target, gamma, word, mass):
            law[whole] = law.get(whole, 0.0) + part
    own = dict(_words(ahead.target, gamma))
    return sum(abs(law.get(word, 0.0) - own.get(word, 0.0)) for word in {*law, *own}) / 2


def _blocks(verifier: Verifier, ahead: Ahead, gamma: int) -> list[tuple[Word, float]]:
    """What one step emits, without the token behind a whole draft; a block may come up repeatedly."""
    drafts = _words(ahead.proposal, gamma)
    tokens = torch.tensor([word for word, _ in drafts])
    weights = torch.tensor([mass for _, mass in drafts], dtype=torch.float64)
    p = _along(ahead.target, drafts, gamma + 1)
    q = _along(ahead.proposal, drafts, gamma)
    tree = Tree.chain(gamma)
    drawn = tree.drawn(tokens)
    rates = verifier.rates(tree, p, q, tokens, drawn)
    stops = weights[:, None] * stop_law(verifier, tree, rates.accept, drawn)
    row = excess(p[:, :-1], rates.cut[:, :-1], q)
    row = torch.where(row.sum(-1, keepdim=True) > 0, row, p[:, :-1])
    emitted = stops[:, :-1, None] * row / row.sum(-1, keepdim=True)
    blocks = [(drafts[at][0], float(stops[at, gamma])) for at in stops[:, gamma].nonzero().flatten().tolist()]
    for at, tau, x in emitted.nonzero().tolist():
        blocks.append(((*drafts[at][0][:tau], x), float(emitted[at, tau, x])))
    return blocks


def _words(
    rows: Mapping[Word, Tensor], length: int, word: Word = (), mass: float = 1.0
) -> list[tuple[Word, float]]:
    """All words of that length, or longer, that begin so, and their probabilities. Behind a token that the
    target never says nothing can be accepted: one filling stands for all.
    """
    if len(word) >= length:
        return [(word, mass)]
    if word not in rows:
        return [((*word, *word[-1:] * (length - len(word))), mass)]
    row = rows[word]
    return [
        whole
        for x in row.nonzero().flatten().tolist()
        for whole in _words(rows, length, (*word, x), mass * float(row[x]))
    ]


def _along(rows: Mapping[Word, Tensor], drafts: list[tuple[Word, float]], count: int) -> Tensor:
    return torch.stack(
        [torch.stack([rows.get(word[:i], rows[()]) for i in range(count)]) for word, _ in drafts]
    )


def worst_prompt(
    target: Model,
    drafter: Model,
    prompts: Sequence[Sequence[int]],
    verifier: Verifier,
    gamma: int,
    sampling: Sampling,
    length: int,
) -> tuple[float, Known]:
    """The prompt after which one step is furthest off, and how far, of those whose law can be enumerated."""
    short = [prompt for prompt in prompts if len(prompt) + max(gamma, length) < target.context]
    seen = [look_ahead(target, drafter, prompt, sampling, gamma) for prompt in short]
    off = [total_variation(verifier, ahead, gamma) for ahead in seen]
    for number in sorted(range(len(short)), key=off.__getitem__, reverse=True):
        law = word_law(target, short[number], length, sampling)
        if law is not None:
            return off[number], (number, short[number], law)
    raise BadInput(f"no prompt is fit to look for {verifier.name} at")
