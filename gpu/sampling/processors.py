"""Processors: what changes a row of logits by the text before it, as penalties, biases and grammars do.

Each is a `LogitsProcessor` of transformers or a function like one. `history.History` calls it for the row
after a drafted prefix with the drafted tokens in the text, exactly as if they had been emitted. The exact
counterparts, on probabilities, are in theory/targets/processors.py.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias

import torch
from torch import Tensor

from draftproof.theory.errors import BadInput
from draftproof.theory.targets.processors import Mask

Function: TypeAlias = Callable[[Any, Any], Tensor]
"""(input_ids [R, T], scores [R, V]) -> scores: a `LogitsProcessor` of transformers."""


@dataclass(frozen=True)
class Processor:
    """One step of processing. It is called once for all texts of one length and must not depend on earlier
    calls. A function with the attribute `ignores_prompt` gets the tokens after the prompt only.

    `forbids`: whether it can give a token the logit -inf. `tokens`: those that it names.
    """

    name: str
    function: Function
    forbids: bool = True
    tokens: frozenset[int] = frozenset()

    @property
    def ignores_prompt(self) -> bool:
        return getattr(self.function, "ignores_prompt", False)

    def must_fit(self, vocab: int) -> None:
        """Raises BadInput for a processor that does not fit the vocabulary."""
        for token in self.tokens:
            if not 0 <= token < vocab:
                raise BadInput(f"{self.name}: token {token} is not one of the vocabulary's {vocab}")
        if isinstance(self.function, Grammar):
            self.function.table(vocab, torch.device("cpu"))


@dataclass(frozen=True)
class Penalty:
    """vLLM's `frequency_penalty`, subtracted from a token's logit for each time that it was generated, or, if
    it counts `once`, `presence_penalty`.
    """

    penalty: float
    once: bool
    ignores_prompt = True

    def __call__(self, ids: Tensor, scores: Tensor) -> Tensor:
        counts = torch.zeros_like(scores).scatter_add_(1, ids, torch.ones_like(ids).to(scores))
        return scores - self.penalty * (counts.clamp(max=1) if self.once else counts)


class Grammar:
    """Tokens without an edge from the automaton's state are forbidden. The automaton reads what is generated.

    After a drafted prefix that it does not read, rows stay as they are: nothing of it is ever emitted.
    """

    ignores_prompt = True

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        self.tables: dict[tuple[int, torch.device], Tensor] = {}

    def table(self, vocab: int, device: torch.device) -> Tensor:
        """[states + 1, V]: the next state; the last state is that of prefixes which it does not read."""
        if (vocab, device) not in self.tables:
            states = list(self.mask.edges)
            table = torch.full((len(states) + 1, vocab), len(states))
            for number, state in enumerate(states):
                given = self.mask.edges[state].items()
                edges = {int(x): states.index(to) for x, to in given if x.isdigit() and int(x) < vocab}
                if not edges:
                    raise BadInput(f"grammar: no token of the vocabulary leads on from state {state!r}")
                table[number, list(edges)] = torch.tensor([*edges.values()])
            self.tables[vocab, device] = table.to(device)
        return self.tables[vocab, device]

    def __call__(self, ids: Tensor, scores: Tensor) -> Tensor:
        table = self.table(scores.shape[1], scores.device)
        lost, state = len(table) - 1, ids.new_full((len(ids),), list(self.mask.edges).index(self.mask.start))
        for token in ids.unbind(1):
            state = table[state, token]
        return scores.masked_fill((table[state] == lost) & (state != lost)[:, None], -torch.inf)


def processors(
    *,
    repetition_penalty: float = 1.0,
    presence_penalty: float = 0.0,
    frequency_penalty: float = 0.0,
    logit_bias: Mapping[int, float] | None = None,
    bad_words_ids: Iterable[Sequence[int]] = (),
    grammar: Mask | None = None,
    logits_processor: Iterable[Function] = (),
) -> tuple[Processor, ...]:
    """The processors that these settings ask for, in the order in which transformers applies them. Names are
    those of transformers and vLLM. BadInput for a setting out of range.

    >>> [each.name for each in processors(repetition_penalty=1.2, logit_bias={3: -1.0})]
    ['logit_bias', 'repetition_penalty']
    """
    from transformers.generation import logits_process as of  # takes seconds

    words, biases = [[*word] for word in bad_words_ids], dict(logit_bias or {})
    if not 0 < repetition_penalty < float("inf"):
        raise BadInput(f"repetition_penalty must be above 0, not {repetition_penalty:g}")
    for name, number in (("presence_penalty", presence_penalty), ("frequency_penalty", frequency_penalty)):
        if not abs(number) < float("inf"):
            raise BadInput(f"{name} must be a number, not {number}")
    for token, bias in biases.items():
        if isnan(bias) or bias == float("inf"):
            raise BadInput(f"logit_bias of token {token} must be below infinity, not {bias}")
    if not all(words):
        raise BadInput("bad_words_ids has an empty sequence")
    named = {*biases, *(token for word in words for token in word)}
    if min(named, default=0) < 0:
        raise BadInput(f"token {min(named)} is not one of the vocabulary's")
    found: list[Processor] = []
    if biases:
        pairs: list[Any] = [[[token], float(bias)] for token, bias in biases.items()]
        made, forbids = of.SequenceBiasLogitsProcessor(pairs), min(biases.values()) == -float("inf")
        found.append(Processor("logit_bias", made, forbids, frozenset(biases)))
    if repetition_penalty != 1:
        made = of.RepetitionPenaltyLogitsProcessor(float(repetition_penalty))
        found.append(Processor("repetition_penalty", made, False))
    if presence_penalty:
        found.append(Processor("presence_penalty", Penalty(presence_penalty, once=True), False))
    if frequency_penalty:
        found.append(Processor("frequency_penalty", Penalty(frequency_penalty, once=False), False))
    if words:
        every = frozenset(token for word in words for token in word)
        found.append(Processor("bad_words_ids", of.NoBadWordsLogitsProcessor(words), True, every))
    if grammar is not None:
        found.append(Processor("grammar", Grammar(grammar)))
    return (*found, *(Processor("logits_processor", function) for function in logits_processor))
