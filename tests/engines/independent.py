"""A second opinion on a server that shares no code with draftproof: teacher-forced counts, z by position.

Texts are drawn from prompts of token ids. At every position the model's own row after the text so far, by
transformers on the same weights, is processed as the sampling says; z compares how often its likeliest token
(with penalties: a token that was there before) came with its probability, over all texts: for a server that
samples as asked it is standard normal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

PROMPTS = ((275, 69, 567, 425, 627), (500, 12, 90, 333), (271, 65, 313) * 4 + (271, 65))
"""The last repeats itself, and the model goes on with it in half of its texts: n-grams are accepted."""
LENGTH = 5
END = 0
"""The token that ends a text."""


@dataclass(frozen=True)
class Sampling:
    """How texts are drawn. Penalties are of repeated tokens (of prompt and text), of tokens of the text
    alone, and of these for each time; then come temperature and filters, in the order of the fields. 1, 0 and
    () are off. With a choice the text is one of these strings; with an alphabet it has only these characters.
    """

    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0
    temperature: float = 1.0
    min_p: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    choice: tuple[str, ...] = ()
    alphabet: str = ""

    @property
    def penalises(self) -> bool:
        """Whether a token that was there before has another probability for it."""
        return (self.repetition, self.presence, self.frequency) != (1, 0, 0)

    def row(
        self, logits: "torch.Tensor", prompt: Sequence[int], text: Sequence[int], spelled: tuple[str, ...]
    ) -> "torch.Tensor":
        """The law of the next token: float64, shape (V,). `spelled` is what each token adds to a text."""
        import torch

        row = logits.double().clone()
        met = torch.tensor(sorted({*prompt, *text}))
        row[met] = torch.where(row[met] > 0, row[met] / self.repetition, row[met] * self.repetition)
        for token in set(text):
            row[token] -= self.presence + self.frequency * text.count(token)
        if self.choice:
            row[[*set(range(len(row))) - allowed(self.choice, tuple(text), spelled)]] = -torch.inf
        if self.alphabet:
            row[[not new or bool({*new} - {*self.alphabet}) for new in spelled]] = -torch.inf
        law = (row / self.temperature).softmax(-1)
        law[law < self.min_p * law.max()] = 0
        if self.top_k:
            law[law < law.topk(self.top_k).values[-1]] = 0
        largest = (law / law.sum()).sort(descending=True)
        law[largest.indices[largest.values.cumsum(0) - largest.values >= self.top_p]] = 0
        return law / law.sum()


@cache
def allowed(choice: tuple[str, ...], text: tuple[int, ...], spelled: tuple[str, ...]) -> frozenset[int]:
    """The tokens after which a choice can still be completed; the end of the text where one is complete."""
    said = "".join(spelled[token] for token in text)
    rest = [each.removeprefix(said) for each in choice if each.startswith(said)]
    going = (t for t, new in enumerate(spelled) if new and any(left.startswith(new) for left in rest))
    return frozenset(going) - {END} | ({END} if "" in rest else set())


def z_values(
    folder: str, sampling: Sampling, texts: dict[tuple[int, ...], list[list[int]]], again: bool = False
) -> tuple[list[float], float]:
    """The z of each position, over the texts of all prompts, and the share of tokens that the sampling
    forbids. A text may end early, with the token that ends it. `again`: one z of all positions, whether the
    token came that followed the same last token before in the text, as where noise is read twice.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    spelled = tuple(tokenizer.decode([token]) for token in range(len(tokenizer)))
    length = max(len(text) for few in texts.values() for text in few)
    excess, variance = [0.0] * length, [0.0] * length
    forbidden = total = 0

    for prompt, few in texts.items():
        ids = torch.tensor([[*prompt, *text, *[END] * (length - len(text))] for text in few])
        with torch.no_grad():
            logits = model(ids).logits[:, len(prompt) - 1 :]
        laws: dict[tuple[int, ...], torch.Tensor] = {}
        for text, rows in zip(few, logits, strict=True):
            for n, token in enumerate(text):
                before = tuple(text[:n])
                if before not in laws:
                    laws[before] = sampling.row(rows[n], prompt, before, spelled)
                law = laws[before]
                if not law.sum() > 0:
                    raise ValueError(f"nothing can follow {before}, and {token} did")
                counted = {*prompt, *before} if sampling.penalises else {int(law.argmax())}
                if again:
                    counted = {*followed(before)}
                mass = float(law[[*counted]].sum())
                position = 0 if again else n
                excess[position] += (token in counted) - mass
                variance[position] += mass * (1 - mass)
                forbidden += float(law[token]) == 0
                total += 1
    return [e / sqrt(v) for e, v in zip(excess, variance, strict=True) if v > 0], forbidden / max(total, 1)


def followed(before: tuple[int, ...]) -> tuple[int, ...]:
    """The token that came last after the last token, if there is one."""
    earlier = [after for token, after in pairwise(before) if token == before[-1]]
    return tuple(earlier[-1:])


def off(folder: str, rows: dict[tuple[int, ...], dict[int, float]]) -> float:
    """The largest difference of log-probabilities in rows, prompt -> token -> value, to the model's own."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    worst = 0.0
    for prompt, row in rows.items():
        with torch.no_grad():
            own = model(torch.tensor([prompt])).logits[0, -1].double().log_softmax(-1)
        worst = max(worst, *(abs(value - float(own[token])) for token, value in row.items()))
    return worst
