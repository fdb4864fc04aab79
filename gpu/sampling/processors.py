"""Processors: what changes a row of logits by the text before it, as penalties, biases and grammars do.

`history.History` calls them for the row after a drafted prefix with the drafted tokens in the text, exactly
as if they had been emitted. The exact counterparts, on probabilities, are in theory/targets/processors.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Processor:
    """A `LogitsProcessor` of transformers, or a function like one: (input_ids [R, T], scores [R, V]) ->
    scores. It is called once for all texts of one length and must not depend on earlier calls.

    A function with the attribute `ignores_prompt` gets the tokens after the prompt only. One whose attribute
    `forbids` is False never gives a token the logit -inf, so that no row need be looked at afterwards.

    >>> Processor(lambda input_ids, scores: 2 * scores).forbids
    True
    """

    function: Callable[[Any, Any], Tensor]

    @property
    def name(self) -> str:
        """Of the function or its class, for messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def ignores_prompt(self) -> bool:
        return getattr(self.function, "ignores_prompt", False)

    @property
    def forbids(self) -> bool:
        return getattr(self.function, "forbids", True)
