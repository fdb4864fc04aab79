"""Many instances at once: the same programs over arrays, one lane per instance, in float64 or exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.simulators.laws.enumerate import Invalid, iteration
from draftproof.simulators.laws.residues import Arithmetic
from draftproof.theory.drafts import Scheme
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import LanesDiffer, one
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier

BATCH = 8192
"""Lanes per run: enough to hide the cost of a call, few enough for rows to stay in the CPU's cache."""


@dataclass(frozen=True)
class Lanes:
    """Instances with one drafting scheme; their rows are stacked as arrays [V, lanes]: floats for `measure`,
    whole-number weights, int64, for `decide`.
    """

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


def must_be_in_step(verifier: Verifier) -> None:
    """BadInput for a verifier that cannot run on lanes."""
    if not in_step(verifier):
        raise BadInput(f"{verifier.name} orders tokens or keeps state; enumerate its instances one by one")


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
    must_be_in_step(verifier)
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


@dataclass(frozen=True)
class Decided:
    """Of every lane, bool [lanes]: whether the verifier is lossless there; and whether that is not known,
    since a comparison stayed open or the verifier did what no sampler can. `primes`: how many residues each
    number had.
    """

    lossless: np.ndarray
    undecided: np.ndarray
    primes: int


def decide(lanes: Lanes, verifier: Verifier, primes: int = 1) -> Decided:
    """The exact verdict on every lane, over one iteration. Computes again with more primes where the numbers
    need them, so `primes` is a guess. Raises BadInput as `measure` does.

    >>> weights = Table(2, {(): np.array([[1, 1], [2, 3]])}), Table(2, {(): np.array([[2, 1], [1, 1]])})
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> decide(Lanes(*weights, Chain(2)), named("hsd-released")).lossless.tolist()
    [False, False]
    """
    must_be_in_step(verifier)
    arithmetic: Any = Arithmetic(lanes.count, primes)
    target, proposal = (
        Table(table.vocab, {prefix: arithmetic.row(weights) for prefix, weights in table.given()})
        for table in (lanes.target, lanes.proposal)
    )
    emitted, lossless = Emission(target), np.ones(lanes.count, dtype=bool)
    try:
        for weight, _, node, row in iteration(lanes.draft, proposal, verifier, target, start=one(target[()])):
            emitted.add(weight, node, row)
            if row is not target[node.prefix]:
                arithmetic.must_be_a_law(weight, row)
        for difference in emitted.differences():
            lossless &= arithmetic.zero(difference)
    except Invalid:
        return Decided(lossless & False, lossless | True, primes)
    except LanesDiffer as differ:
        undecided = arithmetic.undecided
        for mask in (differ.mask, ~differ.mask):
            part = decide(lanes.take(mask), verifier, primes)
            lossless[mask], undecided[mask], primes = part.lossless, part.undecided, part.primes
        return Decided(lossless, undecided, primes)
    finally:
        arithmetic.known.clear()  # numbers and their arithmetic refer to each other
    if arithmetic.need > arithmetic.bits:
        return decide(lanes, verifier, arithmetic.enough)
    return Decided(lossless, arithmetic.undecided, primes)
