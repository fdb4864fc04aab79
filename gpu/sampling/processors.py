"""Processors: what changes a row of logits by the text before it, as penalties, biases and grammars do.

A processor remembers of a text what it needs (`begin`), and what it remembers grows with the text (`follow`).
The row after a drafted prefix is therefore processed with the drafted tokens in its history, exactly as if
they had been emitted. The exact counterparts, on probabilities, are in theory/targets/processors.py.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias

import torch
from torch import Tensor

from draftproof.theory.errors import BadInput
from draftproof.theory.targets.processors import Mask

Function: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""(input_ids [R, T], scores [R, V]) -> scores: a `LogitsProcessor` of transformers."""


class Processor:
    """One step of processing. `forbids`: whether it can give a token the logit -inf.

    Ids of missing tokens are -1; they stand behind all others.
    """

    name = ""
    forbids = False

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        """[B, S]: what is remembered of the prompts [B, T]. `longest`: the most tokens of a text.
        Raises BadInput for a processor that does not fit the vocabulary.
        """
        return prompts[:, :0]

    def follow(self, memory: Tensor, words: Tensor) -> Tensor:
        """[B, n, S]: what is remembered after each of n words [B, n, d] that continue a text, from memory
        [B, 1, S].
        """
        return memory

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        """Logits [B, n, V], processed."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bias(Processor):
    """`logit_bias`: (id, what is added to its logit), -inf to forbid a token."""

    biases: tuple[tuple[int, float], ...]
    name = "logit_bias"

    def __post_init__(self) -> None:
        for token, bias in self.biases:
            if isnan(bias) or bias == float("inf"):
                raise BadInput(f"logit_bias of token {token} must be below infinity, not {bias}")

    @property
    def forbids(self) -> bool:  # type: ignore[override]
        return any(bias == -float("inf") for _, bias in self.biases)

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        _known(self.name, (token for token, _ in self.biases), vocab)
        row = torch.zeros(vocab, device=prompts.device)
        for token, bias in self.biases:
            row[token] = bias
        return row.expand(len(prompts), -1)

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        return logits + memory


class _Window(Processor):
    """Remembers the last tokens of a text, [B, S], with -1 before its first one."""

    def _size(self, longest: int) -> int:
        raise NotImplementedError

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        none = prompts.new_full((len(prompts), 1, self._size(longest)), -1)
        return self.follow(none, prompts[:, None])[:, 0]

    def follow(self, memory: Tensor, words: Tensor) -> Tensor:
        size = memory.shape[-1]
        whole = torch.cat((memory.expand(*words.shape[:-1], size), words), -1)
        last = (words >= 0).sum(-1, keepdim=True) + torch.arange(size, device=words.device)
        return whole.gather(-1, last)


class _Penalty(_Window):
    """Remembers the whole text, and changes the logits of its tokens."""

    def _size(self, longest: int) -> int:
        return longest

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        last = memory[..., -1:]  # stands for missing ones: what is changed twice is changed alike
        at = torch.where(memory >= 0, memory, last).clamp(min=0)
        given = logits.gather(-1, at)
        changed = self.changed(given, at, memory)
        return logits.scatter(-1, at, torch.where(last >= 0, changed, given))

    def changed(self, logits: Tensor, tokens: Tensor, memory: Tensor) -> Tensor:
        """The new logits [B, n, S] of tokens of the text."""
        raise NotImplementedError


@dataclass(frozen=True)
class Repetition(_Penalty):
    """transformers' `repetition_penalty`: logits of tokens that occurred, in the prompt too, are divided by
    the penalty, or multiplied if they are negative.
    """

    penalty: float
    name = "repetition_penalty"

    def __post_init__(self) -> None:
        if not 0 < self.penalty < float("inf"):
            raise BadInput(f"repetition_penalty must be above 0, not {self.penalty:g}")

    def changed(self, logits: Tensor, tokens: Tensor, memory: Tensor) -> Tensor:
        return torch.where(logits < 0, logits * self.penalty, logits / self.penalty)


@dataclass(frozen=True)
class Frequency(_Penalty):
    """vLLM's `frequency_penalty`: subtracted from a token's logit for each time that it was generated."""

    penalty: float
    name = "frequency_penalty"

    def __post_init__(self) -> None:
        if not abs(self.penalty) < float("inf"):
            raise BadInput(f"{self.name} must be a number, not {self.penalty}")

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        return prompts.new_full((len(prompts), longest), -1)

    def changed(self, logits: Tensor, tokens: Tensor, memory: Tensor) -> Tensor:
        text = memory.sort(-1).values
        first, after = (torch.searchsorted(text, tokens, right=right) for right in (False, True))
        return logits - self.penalty * (after - first)


class Presence(Frequency):
    """vLLM's `presence_penalty`: subtracted, once, from the logits of tokens that were generated."""

    name = "presence_penalty"

    def changed(self, logits: Tensor, tokens: Tensor, memory: Tensor) -> Tensor:
        return logits - self.penalty


@dataclass(frozen=True)
class BadWords(_Window):
    """transformers' `bad_words_ids`: sequences of ids that are never generated whole."""

    words: tuple[tuple[int, ...], ...]
    name = "bad_words_ids"
    forbids = True

    def __post_init__(self) -> None:
        if not self.words or not all(self.words):
            raise BadInput("bad_words_ids has an empty sequence")

    def _size(self, longest: int) -> int:
        return max(map(len, self.words)) - 1

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        _known(self.name, (token for word in self.words for token in word), vocab)
        return super().begin(prompts, vocab, longest)

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        logits = logits.clone()
        for *before, last in self.words:
            end = memory[..., memory.shape[-1] - len(before) :]
            met = (end == torch.tensor(before, device=end.device, dtype=end.dtype)).all(-1)
            logits[..., last] = torch.where(met, -torch.inf, logits[..., last])
        return logits


class Grammar(Processor):
    """Tokens without an edge from the automaton's state are forbidden. The automaton reads what is generated.

    After a drafted prefix that it does not read, rows stay as they are: nothing of it is ever emitted.
    """

    name = "grammar"
    forbids = True

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        self.tables: dict[torch.device, Tensor] = {}  # [states + 1, V]: the next state

    def __repr__(self) -> str:
        return f"Grammar({len(self.mask.edges)} states)"

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        states, table = list(self.mask.edges), self.tables.get(prompts.device)
        if table is None or table.shape[1] != vocab:
            self.tables[prompts.device] = self._table(states, vocab).to(prompts.device)
        return prompts.new_full((len(prompts), 1), states.index(self.mask.start))

    def _table(self, states: list[str], vocab: int) -> Tensor:
        # The last state is that of prefixes which the automaton does not read.
        table = torch.full((len(states) + 1, vocab), len(states))
        for number, state in enumerate(states):
            edges = {int(x): to for x, to in self.mask.edges[state].items() if x.isdigit() and int(x) < vocab}
            if not edges:
                raise BadInput(f"grammar: no token of the vocabulary leads on from state {state!r}")
            table[number, list(edges)] = torch.tensor([states.index(to) for to in edges.values()])
        return table

    def follow(self, memory: Tensor, words: Tensor) -> Tensor:
        table, state = self.tables[words.device], memory[..., 0].expand(words.shape[:-1])
        for token in words.unbind(-1):
            state = torch.where(token >= 0, table[state, token.clamp(min=0)], state)
        return state[..., None]

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        table, state = self.tables[logits.device], memory[..., 0]
        lost = len(table) - 1
        forbidden = (table[state] == lost) & (state != lost)[..., None]
        return logits.masked_fill(forbidden, -torch.inf)


@dataclass(frozen=True)
class Custom(_Window):
    """Any function of whole texts and their scores, as transformers' `logits_processor` takes them.

    It is called once for all texts of one length. A function with the attribute `ignores_prompt` gets the
    tokens after the prompt only. It must not depend on earlier calls.
    """

    function: Function
    name = "logits_processor"
    forbids = True

    @property
    def ignores_prompt(self) -> bool:
        return getattr(self.function, "ignores_prompt", False)

    def begin(self, prompts: Tensor, vocab: int, longest: int) -> Tensor:
        return super().begin(prompts[:, :0] if self.ignores_prompt else prompts, vocab, longest)

    def _size(self, longest: int) -> int:
        return longest

    def __call__(self, logits: Tensor, memory: Tensor) -> Tensor:
        made, lengths = logits.clone(), (memory >= 0).sum(-1)
        for length in lengths.unique().tolist():
            texts = lengths == length
            made[texts] = self.function(memory[texts][:, memory.shape[-1] - length :], logits[texts])
        return made


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
    those of transformers and vLLM.

    >>> processors(repetition_penalty=1.2, logit_bias={3: -1.0})
    (Bias(biases=((3, -1.0),)), Repetition(penalty=1.2))
    """
    words = tuple(map(tuple, bad_words_ids))
    asked: list[tuple[bool, Callable[..., Processor], Any]] = [
        (bool(logit_bias), Bias, tuple((logit_bias or {}).items())),
        (repetition_penalty != 1, Repetition, repetition_penalty),
        (presence_penalty != 0, Presence, presence_penalty),
        (frequency_penalty != 0, Frequency, frequency_penalty),
        (bool(words), BadWords, words),
        (grammar is not None, Grammar, grammar),
        *((True, Custom, function) for function in logits_processor),
    ]
    return tuple(make(setting) for wanted, make, setting in asked if wanted)


def _known(name: str, tokens: Iterable[int], vocab: int) -> None:
    for token in tokens:
        if not 0 <= token < vocab:
            raise BadInput(f"{name}: token {token} is not one of the vocabulary's {vocab}")
