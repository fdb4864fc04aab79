"""Compares greedy speculative decoding with the target's own greedy decoding, processors included."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import torch

from draftproof.gpu.checks.models.joint import logits_after
from draftproof.gpu.checks.twin import computed_in
from draftproof.gpu.engine.loop import Decode
from draftproof.gpu.engine.output import texts
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.rows import Processor, Sampling

LIKELIEST = 64
"""The number of tokens from whose logits the error of one is estimated."""

DEVIATIONS = 6
"""Standard deviations by which rounding may change the difference of two logits."""


@dataclass(frozen=True)
class Tie:
    """The first difference between two greedy texts."""

    prompt: int
    place: int
    ours: int  # the token chosen, -1 if the text has ended
    theirs: int
    logits: tuple[float, float]  # of the two tokens on a plain pass in float64
    tolerance: float  # the largest difference of logits that counts as a tie

    explained: bool  # whether the two are a tie

    def __str__(self) -> str:
        what = "is a tie" if self.explained else "differs"
        return (
            f"token {self.place} of greedy text {self.prompt + 1} {what}: logits {self.logits[0]:.6f} and "
            f"{self.logits[1]:.6f}, tolerance {self.tolerance:.1e}"
        )


@dataclass
class Greedy:
    """The numbers of compared texts and of equal tokens, and the first difference of each text."""

    texts: int
    tokens: int = 0
    ties: list[Tie] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(each.explained for each in self.ties)


class Reference:
    """The target's own greedy texts, by transformers' `generate`, and its logits on plain passes."""

    def __init__(
        self,
        target: Model,
        prompts: Sequence[Sequence[int]],
        tokens: int,
        processors: Sequence[Processor] = (),
    ) -> None:
        self.target, self.prompts, self.tokens = target, prompts, tokens
        self.sampling = Sampling(0.0, processors=tuple(processors))
        self.texts = [self._text(prompt) for prompt in prompts]

    @torch.inference_mode()
    def _text(self, prompt: Sequence[int]) -> list[int]:
        ends = sorted(self.target.ends)
        text = generated(
            self.target.network,
            prompt,
            self.sampling.processors,
            max_new_tokens=min(self.tokens, self.target.context - len(prompt)),
            do_sample=False,
            use_cache=not self.target.only_chains,  # a cache may not give the network's own rows
            eos_token_id=ends or None,
            pad_token_id=ends[0] if ends else 0,
        )
        return text[0, len(prompt) :].tolist()

    @torch.inference_mode()
    def tie(self, prompt: int, ours: Sequence[int], theirs: Sequence[int]) -> Tie:
        """The first place where two texts differ.

        Each text takes an argmax of logits with errors, so the difference of two of them has sqrt(2) times
        the standard deviation of one. It ranks the two tokens in the wrong order only if that difference is
        larger than their exact gap: a gap of more than `DEVIATIONS` of its standard deviations is no tie. The
        errors are those of a plain pass at this place from the same pass in float64, at the likeliest tokens.
        """
        pairs = enumerate(zip_longest(ours, theirs, fillvalue=-1))
        place, (a, b) = next((place, pair) for place, pair in pairs if pair[0] != pair[1])
        given, word = self.prompts[prompt], tuple(theirs[:place])
        logits = logits_after(self.target.network, given, [word], self.sampling)[0]
        with computed_in(self.target.network, torch.float64):
            exact = logits_after(self.target.network, given, [word], self.sampling)[0]
        likely = exact.topk(min(LIKELIEST, len(exact))).indices
        error = float((logits - exact)[likely].nan_to_num().square().mean().sqrt())  # both may be -inf
        two = (float(exact[a]) if a >= 0 else -torch.inf, float(exact[b]) if b >= 0 else -torch.inf)
        tolerance = DEVIATIONS * 2**0.5 * error
        return Tie(prompt, place, a, b, two, tolerance, abs(two[0] - two[1]) <= tolerance)


def compare(reference: Reference, decode: Decode) -> Greedy:
    """Compares a decoder at temperature 0, with all prompts in one batch, with the reference."""
    steps = decode(reference.prompts, sampling=reference.sampling, max_new_tokens=reference.tokens)
    found = Greedy(len(reference.prompts))
    both = zip(texts(steps, found.texts), reference.texts, strict=True)
    for number, (ours, theirs) in enumerate(both):
        if ours != theirs:
            found.ties.append(reference.tie(number, ours, theirs))
        found.tokens += len(ours) if ours == theirs else found.ties[-1].place
    return found


def generated(
    network: Any, prompt: Sequence[int], processors: Sequence[Processor] = (), **options: Any
) -> Any:
    """What transformers' own `generate` gives for one prompt."""
    ids = torch.tensor([prompt], device=network.device)
    given = {"logits_processor": [_after(each, len(prompt)) for each in processors], **options}
    return network.generate(ids, attention_mask=torch.ones_like(ids), **given)


def _after(processor: Processor, start: int) -> Any:
    """The processor's function of a text that is generated from place `start` on."""
    skipped = start if processor.ignores_prompt else 0
    return lambda ids, scores: processor.function(ids[:, skipped:], scores)
