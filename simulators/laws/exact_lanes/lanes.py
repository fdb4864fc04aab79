"""Many instances at once: the same programs over arrays of exact numbers, one lane per instance."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.simulators.laws.exact_lanes.residues import Arithmetic
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.law import continued
from draftproof.theory.rows import LanesDiffer, Prefix, one
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier

BATCH = 16384
"""Most lanes per run: enough to hide the cost of a call, few enough for the memory of a run's numbers."""


@dataclass(frozen=True)
class Lanes:
    """Instances with one drafting scheme; their rows are stacked as int64 weights [V, lanes]."""

    target: Table
    proposal: Table
    draft: Scheme

    @property
    def count(self) -> int:
        return len(self.target[()][0])

    def take(self, which: np.ndarray | slice) -> "Lanes":
        """The given lanes."""
        target, proposal = (
            Table(table.vocab, {prefix: np.ascontiguousarray(row[:, which]) for prefix, row in table.given()})
            for table in (self.target, self.proposal)
        )
        return Lanes(target, proposal, self.draft)


def must_be_in_step(verifier: Verifier) -> None:
    """BadInput for a verifier that orders tokens: on lanes its branches would differ from lane to lane."""
    if verifier.ordered:
        raise BadInput(f"{verifier.name} orders tokens; enumerate its instances one by one")


@dataclass(frozen=True)
class Decided:
    """Of every lane, bool [lanes]: whether the verifier is lossless there; and whether that is not known,
    since a comparison stayed open or the verifier did what no sampler can. `primes`: how many residues each
    number had.
    """

    lossless: np.ndarray
    undecided: np.ndarray
    primes: int


def decide(lanes: Lanes, verifier: Verifier, primes: int | None = None) -> Decided:
    """The exact verdict on every lane, over one iteration. Computes again with more primes where the numbers
    need them, so `primes` is a guess, made here if None. Raises BadInput for a verifier that orders tokens.

    >>> weights = Table(2, {(): np.array([[1, 1], [2, 3]])}), Table(2, {(): np.array([[2, 1], [1, 1]])})
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> decide(Lanes(*weights, Chain(2)), named("hsd-released")).lossless.tolist()
    [False, False]
    """
    must_be_in_step(verifier)
    if primes is None:
        primes = decide(lanes.take(slice(0, 256)), verifier, 0).primes if lanes.count > 2048 else 0
    arithmetic: Any = Arithmetic(lanes.count, primes)
    target, proposal = (
        Table(table.vocab, {prefix: arithmetic.row(weights) for prefix, weights in table.given()})
        for table in (lanes.target, lanes.proposal)
    )
    exact, lossless = Lanes(target, proposal, lanes.draft), np.ones(lanes.count, dtype=bool)
    try:
        for difference in _differences(exact, verifier):
            lossless &= arithmetic.zero(difference)
    except Invalid:
        arithmetic.undecided |= True
    except LanesDiffer as differ:
        undecided = arithmetic.undecided
        for mask in (differ.mask, ~differ.mask):
            part = decide(lanes.take(mask), verifier, primes)
            lossless[mask], undecided[mask], primes = part.lossless, part.undecided, part.primes
        return Decided(lossless, undecided, primes)
    finally:
        arithmetic.known.clear()  # numbers and their arithmetic refer to each other
    if arithmetic.need >= arithmetic.bits:
        return decide(lanes, verifier, arithmetic.enough if primes else 1)
    return Decided(lossless, arithmetic.undecided, primes)


def _differences(lanes: Any, verifier: Verifier) -> Iterator[Any]:
    # By how much each word is too likely: of one iteration or, if the verifier keeps state, of two.
    if verifier.carry is None:
        yield from emission(lanes, verifier).differences()
        return
    length = lanes.draft.depth + 2
    whole = one(lanes.target[()])
    wrong: dict[Prefix, Any] = {
        word: whole * 0 - mass for word, mass in continued((), whole, lanes.target, length)
    }
    for word, mass in decode(lanes, verifier, 2, length).words(length):
        wrong[word] = wrong.get(word, whole * 0) + mass
    yield from wrong.values()
