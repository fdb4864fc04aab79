"""Tables that stand in for the two models of a generation loop."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from draftproof.simulators.audit.rounding import SHIFT
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

if TYPE_CHECKING:
    import torch


PROMPT = 2
"""The number of tokens of a prompt: of one token its end cannot be taken for the whole."""


class Model:
    """A causal model made from a table: `model(ids, past_key_values)` gives `.logits` [B, T, V] and
    `.past_key_values` (None with use_cache=False), like models of transformers.

    The first PROMPT tokens of a context are the prompt. The cache holds the tokens themselves, in the shape
    [B, 1, T, 1] of keys and values, so a loop that crops it wrongly gets the rows of another context. It may
    be a `Cache`, a cache of transformers such as `DynamicCache()`, which calls extend in place, or a tuple
    of layers (keys, values), which they leave as it is. Logits are shifted by a constant. Behind the last of
    the `length` tokens that are judged the rows change: no judged text has such a context, but a cache that
    keeps what was rejected.
    """

    def __init__(self, rows: Rows, dtype: "torch.dtype", length: int = 10**6):
        import torch

        self.rows, self.dtype, self.device = rows, dtype, torch.device("cpu")
        self.length = length
        self.config = SimpleNamespace(vocab_size=rows.vocab, max_position_embeddings=10**6)
        self._known: dict[Prefix, torch.Tensor] = {}
        self.asked: set[Prefix] = set()  # contexts of this run, without the prompt

    def __call__(
        self,
        input_ids: "torch.Tensor",
        past_key_values: Any = None,
        use_cache: bool = True,
        logits_to_keep: int = 0,
        **_: Any,
    ) -> "Output":
        import torch

        given = input_ids.reshape(-1, input_ids.shape[-1])
        cache = Cache() if past_key_values is None else past_key_values
        if isinstance(cache, tuple | list):  # of layers
            cache = Cache(cache[0][0]) if cache else Cache()
        new = given.to(self.dtype)[:, None, :, None]
        seen = cache.update(new, new, 0)[0] if use_cache or past_key_values is not None else new
        contexts = [list(map(int, ids)) for ids in seen.reshape(len(given), -1).tolist()]
        ends = range(len(contexts[0]) - given.shape[-1] + 1, len(contexts[0]) + 1)
        logits = torch.stack([torch.stack([self.row(ids[PROMPT:end]) for end in ends]) for ids in contexts])
        return Output(logits=logits[:, -logits_to_keep:], past_key_values=cache if use_cache else None)

    forward = __call__

    def parameters(self) -> "Iterator[torch.Tensor]":
        """One parameter, which has the model's device and dtype."""
        import torch

        yield torch.zeros(1, dtype=self.dtype)

    def eval(self) -> "Model":
        """The model, which is the same in training."""
        return self

    def to(self, *_: Any, **__: Any) -> "Model":
        """The model, which stays where it is."""
        return self

    def pretrained(self, **settings: Any) -> Any:
        """The table as a `PreTrainedModel` with `generate`, which may change its settings."""
        from draftproof.simulators.audit.targets.pretrained import Pretrained

        return Pretrained(self, **settings)

    def row(self, tokens: Any) -> "torch.Tensor":
        """The logits [V] after these tokens; the prompt is not among them."""
        import torch

        prefix = tuple(map(int, tokens))
        self.asked.add(prefix)
        if prefix not in self._known:
            row = torch.tensor([float(x) for x in self.rows[prefix]], dtype=torch.float64)
            self._known[prefix] = (row.log() + SHIFT).to(self.dtype)
        return self._known[prefix].roll(int(len(prefix) >= self.length))


class Output(SimpleNamespace):
    """What a model returns: by attribute, by name, or by position without what is None."""

    def __getitem__(self, key: Any) -> Any:
        there = [x for x in vars(self).values() if x is not None]
        return vars(self)[key] if isinstance(key, str) else there[key]


class Cache:
    """Keys and values of one layer, [B, 1, T, 1], with the methods of transformers' `DynamicCache`; also read
    as a tuple of layers (keys, values).
    """

    def __init__(self, kept: Any = None):
        self.kept = kept

    def update(self, keys: Any, values: Any, layer_idx: int = 0, *_: Any) -> tuple[Any, Any]:
        """Appends, and returns the whole."""
        import torch

        self.kept = keys if self.kept is None else torch.cat([self.kept, keys], 2)
        return self.kept, self.kept

    def crop(self, max_length: int) -> None:
        """Keeps the first tokens, or drops so many at the end if negative."""
        self.kept = None if self.kept is None else self.kept[:, :, :max_length]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """The number of tokens."""
        return 0 if self.kept is None else self.kept.shape[2]

    def to_legacy_cache(self) -> tuple[Any, ...]:
        """The layers as a tuple."""
        return () if self.kept is None else ((self.kept, self.kept),)

    def __getitem__(self, layer: int) -> tuple[Any, Any]:
        return self.to_legacy_cache()[layer]

    def __len__(self) -> int:
        return len(self.to_legacy_cache())
