"""Many instances at once: the same programs over arrays of exact numbers, one lane per instance."""

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from draftproof.simulators.laws.decode import Decoded, decode
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.simulators.laws.exact_lanes.residues import Arithmetic
from draftproof.simulators.laws.repeat import of_the_project
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.law import continued
from draftproof.theory.rows import LanesDiffer, Prefix, one
from draftproof.theory.table import Rows, Table
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
        return self.each(lambda row: np.ascontiguousarray(row[:, which]))

    def each(self, change: Callable[[Any], Any]) -> "Lanes":
        """With every row changed."""
        p, q = ({at: change(row) for at, row in table.given()} for table in (self.target, self.proposal))
        return Lanes(Table(self.target.vocab, p), Table(self.target.vocab, q), self.draft)


def must_be_in_step(verifier: Verifier) -> None:
    """BadInput for a verifier that orders tokens: on lanes its branches would differ from lane to lane."""
    if verifier.ordered:
        raise BadInput(f"{verifier.name} orders tokens; enumerate its instances one by one")


@dataclass(frozen=True)
class Decided:
    """Of every lane, bool [lanes]: whether the verifier is found lossless there; and whether that is not
    known, since a comparison stayed open, or the verifier did what no sampler or no array can. `primes`: how
    many residues of each number were needed. `accepted`: E[tau] of one iteration, whole numbers over whole
    numbers, [2, lanes], 0 over 0 where floats do not tell them.
    """

    lossless: np.ndarray
    undecided: np.ndarray
    primes: int
    accepted: np.ndarray


def decide(lanes: Lanes, verifier: Verifier, primes: int = 1) -> Decided:
    """The exact verdict on every lane, over one iteration. Computes again with more primes where the numbers
    need them, so `primes` is a guess. Raises BadInput for a verifier that orders tokens.

    >>> weights = Table(2, {(): np.array([[1, 1], [2, 3]])}), Table(2, {(): np.array([[2, 1], [1, 1]])})
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> decide(Lanes(*weights, Chain(2)), named("hsd-released")).lossless.tolist()
    [False, False]
    """
    must_be_in_step(verifier)
    _keep_memory()
    arithmetic: Any = Arithmetic(lanes.count, primes)
    lossless, accepted = np.ones(lanes.count, dtype=bool), np.zeros((2, lanes.count))
    try:
        mean, differences = _judged(lanes.each(arithmetic.row), verifier)
        accepted[0], accepted[1] = arithmetic.fraction(mean)
        for difference in differences:
            lossless &= arithmetic.zero(difference)
    except (Invalid, TypeError):
        arithmetic.undecided |= True
    except LanesDiffer as differ:
        undecided = arithmetic.undecided
        for mask in (differ.mask, ~differ.mask):
            part = decide(lanes.take(mask), verifier, primes)
            lossless[mask], undecided[mask], primes = part.lossless, part.undecided, max(primes, part.primes)
            accepted[:, mask] = part.accepted
        return Decided(lossless, undecided, primes, accepted)
    finally:
        arithmetic.known.clear()  # numbers and their arithmetic refer to each other
    if arithmetic.need >= arithmetic.bits:
        return decide(lanes, verifier, arithmetic.enough if primes else 1)
    return Decided(lossless, arithmetic.undecided, arithmetic.enough, accepted)


@cache
def _keep_memory() -> None:
    # glibc would return a run's memory to the system, and the next run fetch it anew: two thirds of its time.
    with suppress(AttributeError, OSError, TypeError):  # no glibc
        for option, most in ((-1, 2**30), (-3, 2**25)):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
            ctypes.CDLL(None).mallopt(option, most)


def _judged(lanes: Any, verifier: Verifier) -> tuple[Any, Iterator[Any]]:
    # E[tau], and by how much each word is too likely: of one iteration, of two if the verifier keeps state.
    if verifier.carry is None:
        emitted = emission(lanes, verifier)
        return emitted.expected_accepted, emitted.differences()
    first = decode(lanes, verifier, 1, lanes.draft.depth + 2)
    return first.accepted[0], _of_two(lanes, verifier, first, lanes.draft.depth + 2)


def _of_two(lanes: Any, verifier: Verifier, first: Decoded, length: int) -> Iterator[Any]:
    # The second iteration is judged by itself from each state that the first leaves, for the same last tokens
    # once.
    whole: Any = one(lanes.target[()])
    yield from _wrong(first, (), whole, lanes.target, length)
    memory = max(len(prefix) for table in (lanes.target, lanes.proposal) for prefix, _ in table.given())
    known, kept, seen = whole.by.known, len(whole.by.known), set()
    for (word, target), mass in sorted(first.states.items(), key=lambda each: len(each[0][0])):
        left, start = length - len(word), np.where(mass > 0, whole, whole * 0)
        if target is lanes.target and of_the_project(verifier):
            word, start = word[max(len(word) - memory, 0) :], whole
        if (word, target) not in seen:
            seen.add((word, target))
            then = replace(lanes, target=target)
            second = decode(then, verifier, 1, len(word) + left, context=word, start=start)
            yield from _wrong(second, word, start, target, len(word) + left)
            for key in list(known)[kept:]:
                del known[key]


def _wrong(decoded: Decoded, word: Prefix, mass: Any, target: Rows, length: int) -> Iterable[Any]:
    # By how much each word that continues this one of the given mass is too likely.
    wrong: dict[Prefix, Any] = {each: mass * 0 - part for each, part in continued(word, mass, target, length)}
    for each, part in decoded.words(length):
        wrong[each] = wrong.get(each, mass * 0) + part
    return wrong.values()
