"""Random instances: rows for thousands of instances are drawn at once, as whole-number weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from draftproof.simulators.support.make import limit_prefixes, prefixes, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Table

Pairs: TypeAlias = Iterator[tuple[np.ndarray, np.ndarray]]
"""Target weights and proposal weights, int64 [V, count] each, for one prefix after another."""


@dataclass(frozen=True)
class Edges:
    """Target weights up to 1, 4 or (mostly) 20, so that zeros and nearly one-hot rows are common; a proposal
    row equals the target's, is a perturbation of it, or is unrelated."""

    name = "random"

    def rows(self, rng: np.random.Generator, vocab: int, count: int) -> Pairs:
        near = rng.choice((0.0, 0.3, 0.3, 0.9), count)
        while True:
            p, other = _bounded(rng, vocab, count), _bounded(rng, vocab, count)
            moved = 3 * p + rng.integers(0, 3, p.shape) * (rng.random(p.shape) < 0.7)
            yield p, np.where(rng.random(count) < near, moved, other)


@dataclass(frozen=True)
class Logits:
    """Rows softmax(logits / temperature): the target's logits are normal with standard deviation
    `spread`, the proposal's a fraction `far` of the way from them to independent ones."""

    spread: float = 2.0
    far: float = 0.7
    temperature: float = 1.0
    grain: int = 360

    @property
    def name(self) -> str:
        return f"logits spread {self.spread:g} far {self.far:g} grain {self.grain}"

    def rows(self, rng: np.random.Generator, vocab: int, count: int) -> Pairs:
        from scipy.special import softmax  # imported here, so that other commands start without scipy

        while True:
            a, b = rng.normal(0, self.spread, (2, vocab, count))
            p, q = a / self.temperature, ((1 - self.far) * a + self.far * b) / self.temperature
            yield rounded(softmax(p, axis=0), self.grain), rounded(softmax(q, axis=0), self.grain)


@dataclass(frozen=True)
class Mixed:
    """Dirichlet rows of p and of q with a concentration of 0.3, 1 or 3, q 10 % to 100 % of the way from p to
    an independent row; these three are drawn once for an instance."""

    grain: int = 60
    name = "mixed"

    def rows(self, rng: np.random.Generator, vocab: int, count: int) -> Pairs:
        concentrations = rng.choice((0.3, 1.0, 3.0), (2, 1, count))
        far = rng.choice((0.1, 0.25, 0.5, 0.75, 1.0), count)
        while True:
            drawn = rng.standard_gamma(concentrations, (2, vocab, count)) + 1e-9
            a, b = drawn / drawn.sum(axis=1, keepdims=True)
            yield rounded(a, self.grain), rounded((1 - far) * a + far * b, self.grain)


Law: TypeAlias = Edges | Logits | Mixed
"""How the rows of many instances are drawn."""


@dataclass(frozen=True)
class Randoms(Sequence[Instance]):
    """`size` instances; the i-th depends on (seed, i), the vocabulary and the law only.

    With the same seed, instances that differ in depth share the rows of their common prefixes (if there are
    at most 512 words of depth + 1 tokens, so that blocks are full), and laws that differ in a parameter use
    the same random numbers.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> Randoms(Chain(1), 2, 10, law=Logits(grain=12))[3].proposal[()]
    (1/4, 3/4)
    """

    draft: Scheme
    vocab: int
    size: int
    seed: int = 0
    law: Law = Edges()

    @property
    def name(self) -> str:
        return f"{self.law.name} {self.draft.label} depth {self.draft.depth} V={self.vocab}"

    def __len__(self) -> int:
        return self.size

    @property
    def block(self) -> int:
        """How many are drawn together, a part of the seed: their target tables have about 2^22 entries."""
        return max(1, min(8192, 2**22 // self.vocab ** (self.draft.depth + 1)))

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < self.size:
            raise IndexError(index)
        limit_prefixes(self.vocab, self.draft.depth, self.name)
        number, lane = divmod(index, self.block)
        target, proposal = (
            Table(self.vocab, {prefix: weighted(drawn[:, lane].tolist()) for prefix, drawn in table.items()})
            for table in _drawn(self.law, self.vocab, self.draft.depth, self.block, self.seed, number)
        )
        return Instance(target, proposal, self.draft, f"{self.name} #{index}")


def rounded(rows: np.ndarray, grain: int) -> np.ndarray:
    """Float rows [V, count] as whole numbers of sum `grain`; the likeliest token gets the remainder."""
    parts = np.rint(rows * grain).astype(np.int64)
    parts[parts.argmax(axis=0), np.arange(parts.shape[1])] += grain - parts.sum(axis=0)
    return parts


@lru_cache(maxsize=2)
def _drawn(
    law: Law, vocab: int, depth: int, count: int, seed: int, number: int
) -> list[dict[Prefix, np.ndarray]]:
    # The weights of target and proposal, whatever is drafted.
    rng = np.random.default_rng(np.random.SeedSequence([seed, vocab, number]))
    pairs = law.rows(rng, vocab, count)
    target, proposal = {}, {}
    for prefix, (p, q) in zip(prefixes(vocab, depth), pairs, strict=False):
        target[prefix] = p
        if len(prefix) < depth:
            proposal[prefix] = q
    return [target, proposal]


def _bounded(rng: np.random.Generator, vocab: int, count: int) -> np.ndarray:
    # Never all zero.
    weights = rng.integers(0, rng.choice((1, 4, 20, 20, 20), count) + 1, (vocab, count))
    weights[rng.integers(0, vocab, count), np.arange(count)] += ~weights.any(axis=0)
    return weights
