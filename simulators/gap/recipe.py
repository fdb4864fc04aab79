"""How a random instance is made whose settings can be varied one at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from random import Random

from draftproof.simulators.instances.make import tabulate
from draftproof.simulators.instances.mixed import rational
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row

GRAIN = 360
"""Rows of varied ensembles are rounded to multiples of 1/GRAIN, zeros included."""

SPREAD = 2.0
"""Standard deviation of the logits of the target, and of those the proposal is mixed with."""

FAR = 0.7
"""How far the proposal's logits are, of the way from the target's to independent ones."""


@dataclass(frozen=True)
class Recipe:
    """How the rows of a random instance are made: logits, mixed, over a temperature, rounded."""

    draft: Scheme
    vocab: int = 3
    temperature: float = 1.0
    far: float = FAR

    def instance(self, seed: int) -> Instance:
        """The same logits for the same seed and prefix, whatever the other settings are."""

        def row(which: int) -> Callable[[Prefix], Row]:
            return lambda prefix: self._row(self._logits(seed, prefix)[which])

        return tabulate(self.vocab, self.draft, row(0), row(1), f"seed {seed}")

    def _logits(self, seed: int, prefix: Prefix) -> tuple[list[float], list[float]]:
        rng = Random(f"{seed} {prefix}")
        drawn = [(rng.gauss(0, SPREAD), rng.gauss(0, SPREAD)) for _ in range(self.vocab)]
        return [a for a, _ in drawn], [(1 - self.far) * a + self.far * b for a, b in drawn]

    def _row(self, logits: list[float]) -> Row:
        weights = [exp((each - max(logits)) / self.temperature) for each in logits]
        return rational([weight / sum(weights) for weight in weights], GRAIN)
