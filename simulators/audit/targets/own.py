"""The project's own verifiers as foreign functions: in floats, their choices made by an rng."""

from typing import Any

from simulators.audit.door import Watch
from simulators.audit.randomness.generator import Generator
from simulators.audit.randomness.sources import Source
from simulators.audit.targets.trees import Tree
from theory.instance import Instance
from theory.rows import Number, Prefix, Row
from theory.table import Rows
from theory.verifier import Verifier


class Chooser:
    """The oracle over a numpy-like generator.

    >>> import numpy as np
    >>> Chooser(np.random.default_rng(0)).choose((0.0, 1.0))
    1
    """

    def __init__(self, rng: Any):
        self.rng = rng

    def choose(self, row: Row) -> int:
        mass = sum(row)
        return int(self.rng.choice(len(row), p=[x / mass for x in row]))

    def accept(self, probability: Number) -> bool:
        return bool(self.rng.random() < probability)


class Own(Tree):
    """A verifier of theory/verifiers behind the door for foreign ones, on one instance.

    The state of a verifier that carries a modified target is kept between rounds.
    """

    def __init__(self, verifier: Verifier, instance: Instance):
        super().__init__(verifier.verify, name=verifier.name)
        self.verifier, self.proposal = verifier, instance.proposal.floats()
        self.carried: Rows | None = None

    def fresh(self) -> None:
        self.carried = None

    def call(self, watch: Watch, source: Source, prepared: Any, position: int = 0) -> Prefix:
        rows, *rest = prepared
        return super().call(watch, source, (self.carried or rows, *rest), position)

    def run(self, target: Rows, draft: Any, rng: Generator) -> Prefix:
        """Verifies, emits, and keeps the target of the next round."""
        oracle = Chooser(rng)
        node, row = self.verifier.verify(oracle, draft, target)
        if self.verifier.carry is not None:
            self.carried = self.verifier.carry(target, self.proposal, draft, node)
        return (*node.prefix[len(draft.root.prefix) :], oracle.choose(row))
