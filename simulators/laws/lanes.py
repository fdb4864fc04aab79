"""Many instances at once in float64: the same programs over arrays, one lane per instance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from draftproof.simulators.laws.enumerate import iteration
from draftproof.theory.drafts import Scheme
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import LanesDiffer
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier

BATCH = 8192
"""Lanes per run: enough to hide the cost of a call, few enough for rows to stay in the CPU's cache."""


@dataclass(frozen=True)
class Lanes:
    """Instances with one drafting scheme; their rows are stacked as arrays [V, lanes]."""

    target: Table
    proposal: Table
    draft: Scheme

    @property
    def count(self) -> int:
        return len(self.target[()][0])

    def take(self, which: np.ndarray) -> "Lanes":
        """The given lanes."""
        target, proposal = (
            Table(table.vocab, {prefix: np.ascontiguousarray(row[:, which]) for prefix, row in table.given()})
            for table in (self.target, self.proposal)
        )
        return Lanes(target, proposal, self.draft)


def stack(instances: Sequence[Instance]) -> Lanes:
    """Instances of one scheme and vocabulary as lanes; BadInput when they differ in structure."""
    first = instances[0]
    if any(other.draft != first.draft or other.vocab != first.vocab for other in instances):
        raise BadInput("lanes need one drafting scheme and one vocabulary")

    def table(which: str) -> Table:
        tables: list[Table] = [getattr(instance, which) for instance in instances]
        prefixes = {prefix for each in tables for prefix, _ in each.given()}
        return Table(
            first.vocab,
            {
                prefix: np.array([[float(x) for x in each[prefix]] for each in tables]).T.copy()
                for prefix in sorted(prefixes, key=len)
            },
        )

    return Lanes(table("target"), table("proposal"), first.draft)


@dataclass(frozen=True)
class Measured:
    """Total variation and E[tau] of every lane, float64 [lanes]."""

    total_variation: np.ndarray
    expected_accepted: np.ndarray


def in_step(verifier: Verifier) -> bool:
    """Whether the verifier can run on lanes: its branches do not differ from lane to lane."""
    return not verifier.ordered and verifier.carry is None


def measure(lanes: Lanes, verifier: Verifier) -> Measured:
    """Enumerates one iteration of every lane: total variation of the completed law, and E[tau].

    Raises BadInput for a verifier that orders tokens or keeps state, so not `in_step`.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> toy = stack([scenario("toy", Chain(2)), scenario("equal", Chain(2))])
    >>> measure(toy, named("block")).expected_accepted.round(6).tolist()
    [1.222222, 2.0]
    """
    if not in_step(verifier):
        raise BadInput(f"{verifier.name} orders tokens or keeps state; enumerate its instances one by one")
    emitted, start = Emission(lanes.target), np.ones(lanes.count)
    try:
        for weight, _, node, row in iteration(
            lanes.draft, lanes.proposal, verifier, lanes.target, start=start
        ):
            emitted.add(weight, node, row)
        return Measured(emitted.total_variation, emitted.expected_accepted)
    except LanesDiffer as differ:  # supports run out in some lanes only: split them off
        variation, accepted = np.empty(lanes.count), np.empty(lanes.count)
        for mask in (differ.mask, ~differ.mask):
            part = measure(lanes.take(mask), verifier)
            variation[mask], accepted[mask] = part.total_variation, part.expected_accepted
        return Measured(variation, accepted)
