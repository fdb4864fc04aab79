"""The batches of the standard suite: random requests, and the witnesses of lossy rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact
from draftproof.theory.rows import Prefix
from draftproof.theory.selection import RULES
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule
from draftproof.theory.table import Table

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


Rows = dict[Prefix, list[str]]

APPENDIX: tuple[Rows, Rows] = (
    {(): ["7/10", "3/10"], (0,): ["1/2", "1/2"], (1,): ["1", "0"]},
    {(): ["1/2", "1/2"], (0,): ["1/2", "1/2"], (1,): ["0", "1"]},
)
"""Target and proposal of the instance in Appendix A of dspark2026throughput, with rows that make it exact."""

UNEQUAL: tuple[Rows, Rows] = {(): ["1/2", "1/2"]}, {(): ["1/3", "2/3"]}

WITNESSES: dict[str, tuple[int, list[tuple[Rows, Rows]], int, list[str]]] = {
    "tetris": (2, [({(): ["0", "1"]}, {(): ["1/2", "1/2"]}), UNEQUAL], 1, []),
    "dspark-retrospective": (2, [APPENDIX], 2, ["1", "1/2", "1/2"]),
    "drop-forbidden": (3, [({(): ["1/2", "1/2", "0"]}, {(): ["1/2", "0", "1/2"]})], 1, []),
    "confidence-drop": (2, [UNEQUAL], 1, []),
}
"""Rule -> a small batch on which it loses the law: vocabulary, rows of each request, capacity, speed."""


def witness(name: str, rule: Rule | None = None) -> Batch:
    """The small batch on which the named rule loses the law; with another rule if one is given.

    >>> witness("tetris").capacity
    1
    """
    vocab, models, capacity, speed = WITNESSES[name]
    requests = tuple(
        Instance(Table.exact(vocab, p), Table.exact(vocab, q), Chain(1 + max(map(len, q)))) for p, q in models
    )
    return Batch(requests, rule or RULES[name], capacity, tuple(map(exact, speed)), f"witness of {name}")


def standard_batches() -> Iterator[Sequence[Batch]]:
    """The batches of the standard suite, every rule at every size; costly ones first."""
    for vocab, depth, requests, capacity, size in reversed(SIZES):
        for rule in RULES.values():
            yield Batches(rule, vocab, depth, requests, capacity, size)
    yield from ([witness(name, rule) for name in WITNESSES] for rule in RULES.values())
