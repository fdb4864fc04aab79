"""Random rational instances: concentrated and flat rows, zeros, proposals from equal to unrelated."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from draftproof.simulators.instances.make import tabulate, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row


@dataclass(frozen=True)
class Randoms(Sequence[Instance]):
    """`size` instances; the i-th depends on (seed, i) and on nothing else.

    Every row of the target has whole-number weights up to a bound of 1, 4 or, mostly, 20, so that
    zeros and near one-hot rows are common; a proposal row is the target's own, a perturbation of
    it, or unrelated.
    """

    draft: Scheme
    vocab: int
    size: int
    seed: int = 0

    @property
    def name(self) -> str:
        return f"random {self.draft.label} depth {self.draft.depth} V={self.vocab}"

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Instance:  # type: ignore[override]
        if not 0 <= index < self.size:
            raise IndexError(index)
        random = Random(f"{self.seed} {index} {self.vocab} {self.draft}")
        near = random.choice((0.0, 0.3, 0.3, 0.9))
        weights: dict[Prefix, list[int]] = {}

        def p(prefix: Prefix) -> Row:
            weights[prefix] = drawn(random, self.vocab)
            return weighted(weights[prefix])

        def q(prefix: Prefix) -> Row:
            if random.random() >= near:
                return weighted(drawn(random, self.vocab))
            moved = [3 * w + (random.randint(0, 2) if random.random() < 0.7 else 0) for w in weights[prefix]]
            return weighted(moved)

        return tabulate(self.vocab, self.draft, p, q, f"{self.name} #{index}")


def drawn(random: Random, vocab: int) -> list[int]:
    """Whole-number weights, not all zero."""
    bound = random.choice((1, 4, 20, 20, 20))
    weights = [random.randint(0, bound) for _ in range(vocab)]
    if not any(weights):
        weights[random.randrange(vocab)] = 1
    return weights
