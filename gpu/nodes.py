"""Rows of a target and a drafter at the nodes of drafted trees below a text, read when they are asked for."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from transformers import DynamicCache

from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.theory.rows import Prefix


class Nodes(Mapping[Prefix, np.ndarray]):
    """The drafter's row by drafted prefix, float64 and as `gap --rows` reads it; `seen` holds (target,
    proposal) of every prefix that was asked for, parents before children, as float32.

    The text is read once; each node reads its own path after it.
    """

    def __init__(self, target: Model, drafter: Model, text: Sequence[int], sampling: Sampling) -> None:
        self.models, self.text, self.sampling = (target, drafter), list(text), sampling
        self.seen: dict[Prefix, tuple[np.ndarray, np.ndarray]] = {}
        self._caches = [self._read(model) for model in self.models]

    def __getitem__(self, prefix: Prefix) -> np.ndarray:
        if prefix not in self.seen:
            p, q = (self._row(each, prefix) for each in range(2))
            self.seen[prefix] = p, q
        row = self.seen[prefix][1].astype(float)
        return row / row.sum()

    def __iter__(self) -> Iterator[Prefix]:
        return iter(self.seen)

    def __len__(self) -> int:
        return len(self.seen)

    def arrays(self, first: int) -> dict[str, np.ndarray]:
        """What was seen, as the arrays of a file in which it starts with row `first`."""
        number = {prefix: first + i for i, prefix in enumerate(self.seen)}
        target, proposal = zip(*self.seen.values(), strict=True)
        return {
            "target": np.array(target),
            "proposal": np.array(proposal),
            "parent": np.array([number[each[:-1]] if each else -1 for each in self.seen]),
            "token": np.array([each[-1] if each else -1 for each in self.seen]),
        }

    @torch.inference_mode()
    def _read(self, model: Model) -> DynamicCache:
        cache = DynamicCache(config=model.network.config)
        if len(self.text) > 1:
            ids = torch.tensor([self.text[:-1]], device=model.device)
            model.network(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return cache

    @torch.inference_mode()
    def _row(self, which: int, prefix: Prefix) -> np.ndarray:
        model, cache = self.models[which], self._caches[which]
        ids = torch.tensor([[self.text[-1], *prefix]], device=model.device)
        logits = model.network(ids, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
        cache.crop(-ids.shape[1])
        row = self.sampling.rows(logits[0, -1:, : self.models[0].vocab])[0]
        return row.float().cpu().numpy()
