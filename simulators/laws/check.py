"""Checks verifiers on families of instances, on all cores; the results make one table."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.against import AgainstVerdict, Distance, judge_against, must_measure
from draftproof.simulators.laws.batches import BatchVerdict, judge_any, must_verify
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.laws.verdict import Verdict
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.selection.batch import Batch
from draftproof.theory.selection.view import Rule
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import CHAIN, Verifier

Family = Sequence[Instance]


@dataclass(frozen=True)
class Piece:
    """Some instances of one family, all with one kind of draft, and the verifiers to check on them; with
    `laws`, each against the declared target at the same place, its extra token too if `own_bonus` is set.
    """

    family: Family | Sequence[Batch]
    indices: range
    verifiers: tuple[Verifier, ...]
    draft: str
    size: tuple[int, int]
    laws: tuple[Declared, ...] = ()
    own_bonus: bool = False

    @property
    def depth(self) -> int:
        """The depth of its drafts."""
        first: Any = self.family[0]
        return max(one.draft.depth for one in getattr(first, "requests", (first,)))

    @property
    def effort(self) -> int:
        """A number roughly in proportion to the time that the piece takes."""
        return len(self.indices) * len(self.verifiers) * self.size[0]


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

    @property
    def found_lossless(self) -> bool:
        return self.lossless == self.instances

    @property
    def declared(self) -> bool:
        """Whether the verifier, and the rule beside it, are declared lossless."""
        return self.verifier.lossless and (self.rule is None or self.rule.predictable)

    def add(self, verdict: Verdict, piece: Piece, index: int) -> None:
        self.drafts.add(piece.draft)
        self.instances += 1
        self.lossless += verdict.lossless
        self.worst = max(self.worst, verdict.total_variation)
        self.largest = max(self.largest[0], piece.depth), max(self.largest[1], piece.size[1])
        if isinstance(verdict, BatchVerdict):
            self.worst_alone = max((self.worst_alone, *verdict.marginals))
        if isinstance(verdict, AgainstVerdict):
            self.kept += verdict.kept
            self.over += bool(verdict.over)
            self.token, self.block = self.token.largest(verdict.token), self.block.largest(verdict.block)
        if not verdict.kept:
            found = piece.size, verdict.instance, piece.family, index
            if self.smallest is None or found[:2] < self.smallest[:2]:
                self.smallest = found

    @property
    def not_shown(self) -> str:
        """What the sizes on which it was found lossless cannot show."""
        return not_shown(*self.largest) if self.instances and self.found_lossless else ""

    def as_declared(self, thorough: bool) -> bool:
        """Whether what was found agrees with what the verifier declares.

        A verifier declared lossy may be lossless on a few instances; on a `thorough` suite, which was
        made to expose it, being lossless everywhere is a disagreement.
        """
        decided = self.instances and (self.declared or thorough)
        return not decided or self.found_lossless == self.declared

    def failing(self) -> Instance | Batch | None:
        """The smallest instance found on which the verifier is not lossless."""
        return self.smallest[2][self.smallest[3]] if self.smallest else None

    def keeps(self, thorough: bool, own: bool) -> bool:
        """Whether the declared target is met; with `own`, whether that agrees with what the rule declares."""
        assert self.law is not None
        if not own or self.law.kept:
            return self.kept == self.instances
        return not thorough or self.kept < self.instances


def applies(verifier: Verifier, instance: Instance) -> bool:
    """Whether the verifier is made for the instance's draft."""
    return instance.draft.label in verifier.drafts


def must_apply(verifier: Verifier, instance: Instance) -> None:
    """BadInput unless the verifier is made for the instance's draft."""
    try:
        must_fit(verifier, [instance.draft])
    except BadInput as error:
        raise BadInput(f"{instance.name}: {error}; --force shows what goes wrong") from None


def must_fit(verifier: Verifier, drafts: Iterable[Scheme]) -> None:
    """BadInput unless the verifier is made for one of the drafts."""
    labels = dict.fromkeys(draft.label for draft in drafts)
    if not any(label in verifier.drafts for label in labels):
        raise BadInput(
            f"{verifier.name} is made for {', '.join(verifier.drafts)}, not for {', '.join(labels)}"
        )


def batch_pieces(families: Iterable[Sequence[Batch]], verifiers: Sequence[Verifier]) -> Iterator[Piece]:
    """The work on batches; verifiers that do not fit are left out."""
    fit = []
    for verifier in verifiers:
        with suppress(BadInput):
            must_verify(verifier)
            fit.append(verifier)
    for family in families:
        vocab = max(request.vocab for request in family[0].requests)
        yield from _split(family, fit, "batch", (family[0].outcomes, vocab))


def against_pieces(
    families: Iterable[Family],
    pairs: Sequence[tuple[Verifier, Declared]],
    force: bool = False,
    own_bonus: bool = False,
) -> Iterator[Piece]:
    """The work of judging verifiers against declared targets. BadInput for a verifier that keeps state."""
    for verifier, law in pairs:
        must_measure(verifier)
        for piece in pieces(families, [verifier], force):
            if piece.verifiers:
                yield replace(piece, laws=(law,), own_bonus=own_bonus)


def pieces(
    families: Iterable[Family], verifiers: Sequence[Verifier], force: bool = False, most: int | None = None
) -> Iterator[Piece]:
    """The work on instances. A family reduced by symmetry is left out for verifiers that order tokens. Those
    that keep state are judged over two calls: families of trees with more than `most` pairs of drafts are
    left out for them.
    """
    for family in families:
        if not len(family):
            continue
        first = family[0]
        fit = [each for each in verifiers if force or applies(each, first)]
        if getattr(family, "symmetric", False):
            fit = [each for each in fit if not each.ordered]
        outcomes = first.draft.outcomes(first.vocab)
        if most is not None and first.draft.label not in CHAIN and len(family) * outcomes**2 > most:
            fit = [each for each in fit if each.carry is None]
        yield from _split(family, fit, first.draft.label, (outcomes, first.vocab))


def _split(
    family: Family | Sequence[Batch], fit: Sequence[Verifier], draft: str, size: tuple[int, int]
) -> Iterator[Piece]:
    step = chunk(size[0])
    for start in range(0, len(family), step):
        yield Piece(family, range(start, min(start + step, len(family))), tuple(fit), draft, size)


def chunk(drafts: int) -> int:
    """The number of instances per piece, if each has this many drafts: a piece takes a few seconds."""
    return max(1, min(64, 3_000 // drafts))


def judged(piece: Piece) -> list[tuple[int, Verdict]]:
    """The verdicts of one piece of work: (index in the family, verdict). Raises BadInput for a verifier of a
    user's without a law.
    """
    found: list[tuple[int, Verdict]] = []
    for index in piece.indices:
        given: Any = piece.family[index]
        for verifier, law in zip_longest(piece.verifiers, piece.laws):
            verdict = (
                judge_any(given, verifier)
                if law is None
                else judge_against(given, verifier, law, own_bonus=piece.own_bonus)
            )
            must_have_a_law(verifier, verdict.invalid)
            found.append((index, verdict))
    return found
