"""Sampling parameters that change greedy texts, by name; their ids fit every small network of the tests."""

from dataclasses import dataclass
from typing import Any

import torch

from draftproof.gpu.sampling.rows import Processor
from draftproof.theory.targets.processors import Mask
from tests.gpu.small import VOCAB as WORDS

THREES = Mask("0", {str(n): {str(x): str((n + x) % 3) for x in range(WORDS) if x % 3 != n} for n in range(3)})
"""After tokens whose ids sum to n modulo 3, ids equal to n modulo 3 are forbidden."""


def no_repeats(input_ids, scores):
    """No pair of tokens occurs twice, as transformers' NoRepeatNGramLogitsProcessor has it."""
    from transformers import NoRepeatNGramLogitsProcessor

    return NoRepeatNGramLogitsProcessor(2)(input_ids, scores)


SETS: dict[str, dict[str, Any]] = {
    "repetition": {"repetition_penalty": 1.5},
    "negative repetition": {"repetition_penalty": 0.8},
    "presence": {"presence_penalty": 2.5},
    "frequency": {"frequency_penalty": 0.8},
    "bias": {"logit_bias": {3: 2.5, 7: -100.0, 9: -float("inf")}},
    "bad words": {"bad_words_ids": [[14], [20, 7], [9, 32], [7, 32, 22], [20, 8, 9]]},
    "grammar": {"grammar": THREES},
    "function": {"logits_processor": [no_repeats]},
    "all": {
        "repetition_penalty": 1.2,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.3,
        "logit_bias": {2: 1.5},
        "bad_words_ids": [[5], [1, 2]],
        "grammar": THREES,
        "logits_processor": [no_repeats],
    },
}


@dataclass(frozen=True)
class Penalty:
    """vLLM's `frequency_penalty`, subtracted from a token's logit for each time that it was generated, or, if
    it counts `once`, `presence_penalty`.
    """

    penalty: float
    once: bool
    ignores_prompt = True

    def __call__(self, ids, scores):
        counts = torch.zeros_like(scores).scatter_add_(1, ids, torch.ones_like(ids).to(scores))
        return scores - self.penalty * (counts.clamp(max=1) if self.once else counts)


class Grammar:
    """Tokens without an edge from the automaton's state are forbidden. After a drafted prefix that it does
    not read, rows stay as they are: nothing of it is ever emitted.
    """

    ignores_prompt = True

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    def __call__(self, ids, scores):
        states = list(self.mask.edges)
        table = torch.full((len(states) + 1, scores.shape[1]), len(states))
        for number, state in enumerate(states):
            edges = {int(x): states.index(to) for x, to in self.mask.edges[state].items()}
            table[number, list(edges)] = torch.tensor([*edges.values()])
        table = table.to(scores.device)
        lost, state = len(states), ids.new_full((len(ids),), states.index(self.mask.start))
        for token in ids.unbind(1):
            state = table[state, token]
        return scores.masked_fill((table[state] == lost) & (state != lost)[:, None], -torch.inf)


def processors(**given: Any) -> tuple[Processor, ...]:
    """The processors of these parameters, named as in transformers and vLLM, in transformers' order."""
    from transformers.generation import logits_process as of

    def biased(biases: dict[int, float]) -> Any:
        return of.SequenceBiasLogitsProcessor([[[token], float(bias)] for token, bias in biases.items()])

    makers = {
        "logit_bias": biased,
        "repetition_penalty": of.RepetitionPenaltyLogitsProcessor,
        "presence_penalty": lambda penalty: Penalty(penalty, once=True),
        "frequency_penalty": lambda penalty: Penalty(penalty, once=False),
        "bad_words_ids": of.NoBadWordsLogitsProcessor,
        "grammar": Grammar,
    }
    found = [maker(given[name]) for name, maker in makers.items() if given.get(name)]
    return tuple(map(Processor, [*found, *given.get("logits_processor", ())]))
