"""The batches of the standard suite: random requests, and the witnesses of lossy rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from flint import fmpq

from draftproof.simulators.instances.files import read_any
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.support.files import SHIPPED
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.selection import RULES
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule

SIZES = (
    (2, 1, 2, 1, 24),
    (2, 2, 2, 2, 24),
    (2, 2, 2, 3, 28),
    (3, 1, 2, 1, 20),
    (3, 2, 2, 3, 24),
    (2, 2, 3, 3, 16),
    (2, 3, 2, 3, 16),
    (3, 2, 3, 2, 1),
    (2, 3, 3, 4, 2),
    (3, 3, 2, 3, 1),
)
"""(vocabulary, depth, requests, capacity, batches of each rule) of the standard suite."""


@dataclass(frozen=True)
class Batches(Sequence[Batch]):
    """`size` batches with the same selection rule. Their requests are random instances; in every third batch
    they are scenarios instead.

    In every second batch the speed falls at the first verified token and stays constant after it, so that
    verification pays only above a sum of acceptance probabilities: 3/10, 6/10, .., 24/10 in turn.
    """

    rule: Rule
    vocab: int
    depth: int
    requests: int
    capacity: int
    size: int

    @property
    def name(self) -> str:
        return (
            f"{self.rule.name}, {self.requests} requests depth {self.depth} V={self.vocab} C={self.capacity}"
        )

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Batch:  # type: ignore[override]
        if not 0 <= index < self.size:
            raise IndexError(index)
        R, chain = self.requests, Chain(self.depth)
        source: Sequence[Instance] = Randoms(chain, self.vocab, self.size * R, seed=3)
        if index % 3 == 2:
            source = Scenarios(chain, self.vocab)
        requests = tuple(source[(index * R + r) % len(source)] for r in range(R))
        cliff = (fmpq(1), *[fmpq(10 * R, 10 * R + 3 + index // 2 % 8 * 3)] * self.capacity)
        return Batch(requests, self.rule, self.capacity, cliff if index % 2 else (), f"{self.name} #{index}")


WITNESSES = "tetris", "dspark-retrospective", "drop-forbidden", "confidence-drop"
"""Rules that lose the law, each on a small batch in docs/."""


@cache
def witness(name: str, rule: Rule | None = None) -> Batch:
    """The small batch on which the named rule loses the law; with another rule if one is given.

    >>> witness("tetris").capacity
    1
    """
    batch = read_any(SHIPPED / f"docs/{name}.json")
    assert isinstance(batch, Batch)
    return replace(batch, rule=rule or batch.rule, name=f"witness of {name}")


def standard_batches() -> Iterator[Sequence[Batch]]:
    """The batches of the standard suite, every rule at every size; costly ones first."""
    for vocab, depth, requests, capacity, size in reversed(SIZES):
        for rule in RULES.values():
            yield Batches(rule, vocab, depth, requests, capacity, size)
    yield from ([witness(name, rule) for name in WITNESSES] for rule in RULES.values())
