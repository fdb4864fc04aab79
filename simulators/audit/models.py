"""Stand-ins for the two models of a generation loop: tables with the interface of models."""

from types import SimpleNamespace
from typing import Any

import torch

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


class Model:
    """A causal model made from a table: `model(ids, past_key_values)` gives `.logits` [B, T, V] and
    `.past_key_values` (None with use_cache=False), like models of transformers.

    The first token of a context is the prompt. The cache holds the tokens themselves, in the shape [B, 1, T,
    1] of keys and values, so a loop that crops it wrongly gets the rows of another context. Logits are
    shifted by a constant.
    """

    def __init__(self, rows: Rows, dtype: torch.dtype):
        self.rows, self.dtype, self.device = rows, dtype, torch.device("cpu")
        self.config = SimpleNamespace(vocab_size=rows.vocab, max_position_embeddings=10**6)
        self._known: dict[Prefix, torch.Tensor] = {}

    def __call__(
        self, input_ids: torch.Tensor, past_key_values: Any = None, use_cache: bool = True, **_: Any
    ) -> SimpleNamespace:
        contexts = input_ids.reshape(-1, input_ids.shape[-1]).tolist()
        if past_key_values:
            seen = past_key_values[0][0].reshape(len(contexts), -1).tolist()
            contexts = [[*map(int, before), *new] for before, new in zip(seen, contexts, strict=True)]
        ends = range(len(contexts[0]) - input_ids.shape[-1] + 1, len(contexts[0]) + 1)
        logits = torch.stack([torch.stack([self.row(ids[1:end]) for end in ends]) for ids in contexts])
        kept = torch.tensor(contexts, dtype=self.dtype)[:, None, :, None]
        return SimpleNamespace(logits=logits, past_key_values=((kept, kept),) if use_cache else None)

    def row(self, tokens: Any) -> torch.Tensor:
        """The logits [V] after these tokens; the prompt is not among them."""
        prefix = tuple(map(int, tokens))
        if prefix not in self._known:
            row = torch.tensor([float(x) for x in self.rows[prefix]], dtype=torch.float64)
            self._known[prefix] = (row.log() + SHIFT).to(self.dtype)
        return self._known[prefix].clone()
