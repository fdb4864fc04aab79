"""The ensemble of the tree gap: flat and concentrated rows, proposals from close to far."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from flint import fmpq

from draftproof.simulators.instances.make import tabulate
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row

GRAIN = 60
"""Rows are multiples of 1/GRAIN, so zeros occur."""

CONCENTRATIONS = 0.3, 1, 3
FAR = 0.1, 0.25, 0.5, 0.75, 1


@dataclass(frozen=True)
class Mixed(Sequence[Instance]):
    """`size` instances; the i-th depends on the seed `first` + i and on nothing else.

    Rows of p and of q are Dirichlet with a concentration of 0.3, 1 or 3, and q is 10 % to 100 % of
    the way from p to an independent row; these three are drawn once for an instance.
    """

    draft: Scheme
    vocab: int
    size: int
    first: int = 0

    @property
    def name(self) -> str:
        return f"mixed {self.draft.label} depth {self.draft.depth} V={self.vocab}"

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < self.size:
            raise IndexError(index)
        rng = Random(self.first + index)
        p_in, q_in, far = rng.choice(CONCENTRATIONS), rng.choice(CONCENTRATIONS), rng.choice(FAR)
        pair = cache(lambda _: random_pair(rng, self.vocab, p_in, q_in, far))
        name = f"seed {self.first + index}"
        return tabulate(self.vocab, self.draft, lambda x: pair(x)[0], lambda x: pair(x)[1], name)


def random_row(rng: Random, vocab: int, concentration: float) -> list[float]:
    """A Dirichlet row."""
    masses = [rng.gammavariate(concentration, 1) + 1e-9 for _ in range(vocab)]
    return [mass / sum(masses) for mass in masses]


def random_pair(rng: Random, vocab: int, p_in: float, q_in: float, far: float) -> tuple[Row, Row]:
    """A target row, and a proposal row a fraction `far` of the way from it to an independent one."""
    p, other = random_row(rng, vocab, p_in), random_row(rng, vocab, q_in)
    return rational(p), rational([(1 - far) * a + far * b for a, b in zip(p, other, strict=True)])


def rational(row: Sequence[float], grain: int = GRAIN) -> Row:
    """A float row rounded to multiples of 1/grain; the likeliest token takes what rounding leaves.

    >>> rational([0.5, 0.25, 0.25], 3)
    (1/3, 1/3, 1/3)
    """
    parts = [round(mass * grain) for mass in row]
    parts[parts.index(max(parts))] += grain - sum(parts)
    return tuple(fmpq(part, grain) for part in parts)
