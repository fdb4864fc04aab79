"""Rows of a target and a drafter at the nodes of drafted trees below a text, read when they are asked for."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from draftproof.gpu.network.models import Model
from draftproof.gpu.network.reader import Reader
from draftproof.gpu.network.whole import WholeReader
from draftproof.gpu.sampling.rows import Sampling
from draftproof.theory.rows import Prefix

PATH = 256
"""The largest number of nodes on a path."""


class Nodes(Mapping[Prefix, np.ndarray]):
    """The drafter's row by drafted prefix, float64 and as `gap --rows` reads it; `seen` holds (target,
    proposal) of every prefix that was asked for, parents before children, as float32.

    The text is read once; each node reads its own path after it.
    """

    def __init__(self, target: Model, drafter: Model, text: Sequence[int], sampling: Sampling) -> None:
        self.models, self.text, self.sampling = (target, drafter), list(text), sampling
        self.seen: dict[Prefix, tuple[np.ndarray, np.ndarray]] = {}
        self._readers = [self._read(model) for model in self.models]

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
    def _read(self, model: Model) -> Reader | WholeReader:
        reader = model.reader(1, len(self.text) + PATH)
        if len(self.text) > 1:
            known = [self.text[:-1]]
            reader.prefill(known, input_ids=torch.tensor(known, device=model.device), logits_to_keep=1)
        return reader

    @torch.inference_mode()
    def _row(self, which: int, prefix: Prefix) -> np.ndarray:
        ids = torch.tensor([[self.text[-1], *prefix]], device=self.models[which].device)
        output = self._readers[which].forward(ids.shape[1], 0, input_ids=ids, logits_to_keep=1)
        return self.sampling.rows(output.logits[0, -1]).float().cpu().numpy()
