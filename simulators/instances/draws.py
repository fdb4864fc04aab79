"""Random instances by the thousand: whole-number weights drawn for many instances at once.

The same weights make an exact instance (w / sum w, rationals) and a lane of floats (their nearest
float64), so that what a float engine found can be looked at exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import softmax

from draftproof.simulators.instances.make import prefixes, weighted
from draftproof.simulators.lanes import BATCH, Lanes
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Table

ENTRIES = 2**22
"""About how many entries the target's tables of one block have."""

Weights: TypeAlias = dict[Prefix, np.ndarray]


class Law(Protocol):
    """How a target row and a proposal row are drawn, [V, lanes] each."""

    def __call__(self, rng: np.random.Generator, vocab: int, lanes: int) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Logits:
    """Rows softmax(logits / temperature): the target's logits are normal with standard deviation
    `spread`, the proposal's a fraction `far` of the way from them to independent ones.

    >>> Logits(temperature=0.5)(np.random.default_rng(0), 3, 2)[0].sum(axis=0).round(9).tolist()
    [1.0, 1.0]
    """

    spread: float = 2.0
    far: float = 0.7
    temperature: float = 1.0

    def __call__(self, rng: np.random.Generator, vocab: int, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = rng.normal(0, self.spread, (2, vocab, lanes))
        p, q = a / self.temperature, ((1 - self.far) * a + self.far * b) / self.temperature
        return softmax(p, axis=0), softmax(q, axis=0)


@dataclass(frozen=True)
class Dirichlet:
    """Dirichlet rows of one concentration; the proposal is `far` of the way to an independent one."""

    concentration: float = 1.0
    far: float = 1.0

    def __call__(self, rng: np.random.Generator, vocab: int, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = rng.standard_gamma(self.concentration, (2, vocab, lanes)) + 1e-9
        a, b = drawn / drawn.sum(axis=1, keepdims=True)
        return a, (1 - self.far) * a + self.far * b


@dataclass(frozen=True)
class Draws(Sequence[Instance]):
    """`size` instances; the i-th depends on (seed, i), the vocabulary and the law only.

    Rows are multiples of 1/grain. With one seed, instances that differ in depth share the rows of
    their common prefixes (while blocks are whole, up to 512 words), and those of laws that differ
    in a parameter share the randomness.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> Draws(Chain(1), 2, 10, 0, Logits(), grain=12)[3].proposal[()]
    (1/4, 3/4)
    """

    draft: Scheme
    vocab: int
    size: int
    seed: int
    law: Law
    grain: int = 360

    def __len__(self) -> int:
        return self.size

    @property
    def block(self) -> int:
        """How many instances are drawn together."""
        return max(64, min(BATCH, ENTRIES // self.vocab ** (self.draft.depth + 1)))

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < self.size:
            raise IndexError(index)
        drawn, lane = _block(self, index // self.block), index % self.block
        target, proposal = (
            Table(
                self.vocab, {prefix: weighted(weights[:, lane].tolist()) for prefix, weights in table.items()}
            )
            for table in drawn
        )
        return Instance(target, proposal, self.draft, f"#{index}")

    def lanes(self, start: int, stop: int) -> Lanes:
        """The instances start .. stop - 1, all of one block, as lanes."""
        at = start - start % self.block
        which = slice(start - at, stop - at)
        target, proposal = (
            Table(
                self.vocab,
                {prefix: weights[:, which] / float(self.grain) for prefix, weights in table.items()},
            )
            for table in _block(self, start // self.block)
        )
        return Lanes(target, proposal, self.draft)


@lru_cache(maxsize=2)
def _block(draws: Draws, number: int) -> tuple[Weights, Weights]:
    rng = np.random.default_rng(np.random.SeedSequence([draws.seed, draws.vocab, number]))
    target: Weights = {}
    proposal: Weights = {}
    for prefix in prefixes(draws.vocab, draws.draft.depth):
        p, q = draws.law(rng, draws.vocab, draws.block)
        target[prefix] = _rounded(p, draws.grain)
        if len(prefix) < draws.draft.depth:
            proposal[prefix] = _rounded(q, draws.grain)
    return target, proposal


def _rounded(rows: np.ndarray, grain: int) -> np.ndarray:
    # Whole numbers that sum to the grain; the likeliest token takes what rounding leaves.
    parts = np.rint(rows * grain).astype(np.int64)
    left = grain - parts.sum(axis=0)
    lanes = np.arange(parts.shape[1])
    parts[parts.argmax(axis=0), lanes] += left
    return parts
