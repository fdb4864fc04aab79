"""Checks verifiers on families of instances, on all cores; the results make one table."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.laws.enumerate import shared_drafts
from draftproof.simulators.laws.exact_lanes.lanes import BATCH, decide
from draftproof.simulators.laws.repeat import must_have_a_law, of_the_project
from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.laws.verdict import Verdict, judge
from draftproof.simulators.laws.verdicts.against import AgainstVerdict, Distance, judge_against
from draftproof.simulators.laws.verdicts.batches import BatchVerdict, judge_batch, must_verify
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Verifier

Family = Sequence[Instance]
Families = Iterable[Family | Sequence[Batch]]

STEPS = (*CHAIN, *TREES, *PATHS)
"""Drafts that are drawn without an order of the tokens."""

LARGE = 2_000
"""Most instances of a family for verifiers that order tokens."""

PARTED = 1024
"""Least size of a grid of trees without replacement for lanes, which part where a row runs out of tokens."""

Pair = tuple[Verifier, Declared | None]
"""A verifier with the declared target that it is judged against; with None against p."""


@dataclass(frozen=True)
class Piece:
    """Some instances or batches of one family, all with one kind of `draft`, and what to check on them.
    `outcomes` bounds the number of drafts; `vocab` and `depth` are the largest of a batch's requests.
    """

    family: Family | Sequence[Batch]
    indices: Sequence[int]
    pairs: tuple[Pair, ...]
    draft: str
    outcomes: int
    vocab: int
    depth: int
    lanes: bool = False
    counted: bool = True

    @property
    def instances(self) -> int:
        """How many instances the piece adds to those judged: none that another piece counts."""
        return len(self.indices) * self.counted

    @property
    def effort(self) -> int:
        """A number roughly in proportion to the time that the piece takes."""
        return len(self.indices) * len(self.pairs) * self.outcomes


@dataclass(frozen=True)
class Many:
    """What one verifier does on a piece in lanes: how many lanes are lossless by the lanes' own numbers, and
    the verdicts by rationals on all others: those found lossy, and those that stayed open.
    """

    lossless: int
    others: tuple[tuple[int, Verdict], ...]


@dataclass
class Tally:
    """The results of one verifier, or of a selection rule with it, or against a declared target; `largest`
    are the largest depth and vocabulary, and `smallest` locates the smallest failing instance.
    """

    verifier: Verifier
    rule: Rule | None = None
    drafts: set[str] = field(default_factory=set)
    instances: int = 0
    lossless: int = 0
    worst: fmpq = ZERO
    worst_alone: fmpq = ZERO
    law: Declared | None = None
    kept: int = 0
    over: int = 0
    token: Distance = field(default_factory=Distance)
    block: Distance = field(default_factory=Distance)
    largest: tuple[int, int] = 0, 0
    smallest: tuple[tuple[int, int], str, Family | Sequence[Batch], int] | None = None
    by_rationals: int | None = None

    @property
    def found_lossless(self) -> bool:
        return self.lossless == self.instances

    @property
    def declared(self) -> bool:
        """Whether the verifier, and the rule beside it, are declared lossless."""
        return self.verifier.lossless and (self.rule is None or self.rule.predictable)

    def count(self, many: Many, piece: Piece) -> None:
        """Adds a piece in lanes, without the verdicts by rationals."""
        self.drafts.add(piece.draft)
        self.largest = max(self.largest[0], piece.depth), max(self.largest[1], piece.vocab)
        self.instances += many.lossless
        self.lossless += many.lossless
        self.kept += many.lossless
        self.by_rationals = (self.by_rationals or 0) + len(many.others)

    def add(self, verdict: Verdict, piece: Piece, index: int) -> None:
        self.drafts.add(piece.draft)
        self.instances += 1
        self.lossless += verdict.lossless
        self.kept += verdict.kept
        self.worst = max(self.worst, verdict.total_variation)
        self.largest = max(self.largest[0], piece.depth), max(self.largest[1], piece.vocab)
        if isinstance(verdict, BatchVerdict):
            self.worst_alone = max((self.worst_alone, *verdict.marginals))
        if isinstance(verdict, AgainstVerdict):
            self.over += bool(verdict.over)
            self.token, self.block = self.token.largest(verdict.token), self.block.largest(verdict.block)
        if not verdict.kept:
            found = (piece.outcomes, piece.vocab), verdict.instance, piece.family, index
            if self.smallest is None or found[:2] < self.smallest[:2]:
                self.smallest = found

    @property
    def not_shown(self) -> str:
        """What the sizes on which it was found lossless cannot show."""
        return not_shown(*self.largest) if self.instances and self.found_lossless else ""

    def as_declared(self, thorough: bool, own: bool = False) -> bool:
        """Whether what was found agrees with what the verifier declares; against a declared target, whether
        it is met or, with `own`, whether that agrees with what the target's own rule declares.

        A verifier declared lossy may be lossless on a few instances; on a `thorough` suite, which was
        made to expose it, being lossless everywhere is a disagreement. Batches are made to expose the rule.
        """
        declared = self.declared if self.law is None else self.law.kept or not own
        if declared or (self.law is None and not self.instances):
            return self.kept == self.instances
        shown = thorough and not (self.rule and self.rule.predictable)
        return not shown or self.kept < self.instances

    def failing(self) -> Instance | Batch | None:
        """The smallest instance found on which the verifier is not lossless."""
        return self.smallest[2][self.smallest[3]] if self.smallest else None


def applies(verifier: Verifier, instance: Instance) -> bool:
    """Whether the verifier is made for the instance's draft."""
    return instance.draft.label in verifier.drafts


def must_apply(verifier: Verifier, given: Instance | Batch) -> None:
    """BadInput unless the verifier is made for the instance's draft, or can be used in the batch."""
    if isinstance(given, Batch):
        return must_verify(verifier)
    try:
        must_fit(verifier, [given.draft])
    except BadInput as error:
        raise BadInput(f"{given.name}: {error}; --force shows what goes wrong") from None


def must_fit(verifier: Verifier, drafts: Iterable[Scheme]) -> None:
    """BadInput unless the verifier is made for one of the drafts."""
    labels = dict.fromkeys(draft.label for draft in drafts)
    if not any(label in verifier.drafts for label in labels):
        raise BadInput(
            f"{verifier.name} is made for {', '.join(verifier.drafts)}, not for {', '.join(labels)}"
        )


def pieces(
    families: Families, pairs: Sequence[Pair], force: bool = False, lanes: int | None = None
) -> Iterator[Piece]:
    """The work on instances and batches; verifiers that do not fit are left out. A family of more than LARGE
    instances is left out for verifiers that order tokens. Grids of `lanes` instances or more are judged in
    lanes, by verifiers that can; of other grids only the distinct instances.
    """
    for family in families:
        if not len(family):
            continue
        first: Any = family[0]
        if isinstance(first, Batch):
            requests, draft, outcomes = first.requests, "batch", first.outcomes
        else:
            requests, draft, outcomes = (first,), first.draft.label, first.draft.outcomes(first.vocab)
        vocab = max(request.vocab for request in requests)
        depth = max(request.draft.depth for request in requests)
        about = draft, outcomes, vocab, depth
        wide = lanes is not None and hasattr(family, "lanes") and len(family) >= lanes and draft in STEPS
        groups: dict[tuple[int, bool], list[Pair]] = {}
        for pair in _fit(family, pairs, force):
            many = wide and not pair[0].ordered
            step = at_once(pair[0], outcomes) if many else chunk(outcomes)
            groups.setdefault((step, many), []).append(pair)
        for number, ((step, many), some) in enumerate((groups or {(chunk(outcomes), False): []}).items()):
            whole = lanes is None or many or not hasattr(family, "distinct")
            which: Any = range(len(family)) if whole else family.distinct()  # type: ignore[union-attr]
            for start in range(0, len(which), step):
                indices = which[start : start + step]
                yield Piece(family, indices, tuple(some), *about, many, counted=not number)


def _fit(family: Family | Sequence[Batch], pairs: Sequence[Pair], force: bool) -> Iterator[Pair]:
    for verifier, law in pairs:
        with suppress(BadInput):
            if not force or isinstance(family[0], Batch):
                must_apply(verifier, family[0])
            if not (verifier.ordered and len(family) > LARGE):
                yield verifier, law


def chunk(drafts: int) -> int:
    """The number of instances per piece, if each has this many drafts: a piece takes a few seconds."""
    return max(1, min(64, 3_000 // drafts))


def at_once(verifier: Verifier, drafts: int) -> int:
    """The number of lanes per piece: the numbers of a run are kept."""
    return max(1, BATCH // (drafts // (32 if verifier.carry is None else 2) or 1))


def judge_any(
    given: Instance | Batch, verifier: Verifier, law: Declared | None = None, iterations: int | None = None
) -> Verdict:
    """The verdict on a batch, or on an instance against a declared target, over that many iterations."""
    if isinstance(given, Batch):
        return judge_batch(given, verifier)
    if law is not None:
        return judge_against(given, verifier, law)
    return judge(given, verifier, iterations)


def judged(piece: Piece) -> list[tuple[int, Any]]:
    """The verdicts of one piece of work: (index in the family, verdict); in lanes (0, `Many`) for each pair.
    Raises BadInput for a verifier of a user's without a law.
    """
    collects = gc.isenabled()
    gc.disable()  # rows and plans are many and live long, and hold no garbage
    try:
        return _judged(piece)
    finally:
        if collects:
            gc.enable()


def _judged(piece: Piece) -> list[tuple[int, Any]]:
    if _parts(piece):
        family: Any = piece.family
        once = _judged(replace(piece, indices=family.distinct(), lanes=False))
        if all(verdict.lossless for _, verdict in once):
            return [(0, Many(len(family), ())) for _ in piece.pairs]
    if piece.lanes:
        return [(0, _in_lanes(piece, verifier)) for verifier, _ in piece.pairs]
    found: list[tuple[int, Any]] = []
    for index in piece.indices:
        given = piece.family[index]
        with shared_drafts():
            for verifier, law in piece.pairs:
                verdict = judge_any(given, verifier, law)
                must_have_a_law(verifier, verdict.invalid)
                found.append((index, verdict))
    return found


def _parts(piece: Piece) -> bool:
    # Whether lanes take longer than rationals of the distinct instances, which tell of all to known rules.
    small = piece.lanes and piece.draft == TREES[1] and len(piece.indices) == len(piece.family) < PARTED
    return small and all(of_the_project(verifier) for verifier, _ in piece.pairs)


def _in_lanes(piece: Piece, verifier: Verifier) -> Many:
    family: Any = piece.family
    key = verifier.name, family.name
    sure = np.zeros(len(piece.indices), dtype=bool)
    if of_the_project(verifier):  # others are repeated, one by one
        found = decide(family.lanes(piece.indices[0], piece.indices[-1] + 1), verifier, _primes.get(key, 1))
        _primes[key] = max(found.primes, _primes.get(key, 0))
        sure = found.lossless & ~found.undecided
    others = [piece.indices[lane] for lane in np.flatnonzero(~sure).tolist()]
    return Many(int(sure.sum()), tuple((index, judge(family[index], verifier)) for index in others))


_primes: dict[tuple[str, str], int] = {}
"""(verifier, family) -> how many primes a piece needed so far."""
