"""Checks verifiers on families of instances, on all cores; the results make one table."""

import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context

from flint import fmpq

from draftproof.simulators.batches import BatchVerdict, judge_any, must_verify
from draftproof.simulators.verdict import Verdict
from draftproof.theory.batch import Batch
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.selection.view import Rule
from draftproof.theory.verifier import Verifier

Family = Sequence[Instance]


@dataclass(frozen=True)
class Piece:
    """Some instances of one family, all with one kind of draft, and the verifiers to check on them."""

    family: Family | Sequence[Batch]
    indices: range
    verifiers: tuple[Verifier, ...]
    draft: str
    size: tuple[int, int]

    @property
    def effort(self) -> int:
        """A number roughly in proportion to the time that the piece takes."""
        return len(self.indices) * len(self.verifiers) * self.size[0]


@dataclass
class Tally:
    """The results of one verifier, or of a selection rule with it; `smallest` locates the smallest failing
    instance.
    """

    verifier: Verifier
    rule: Rule | None = None
    drafts: set[str] = field(default_factory=set)
    instances: int = 0
    lossless: int = 0
    worst: fmpq = ZERO
    worst_alone: fmpq = ZERO
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
        if isinstance(verdict, BatchVerdict):
            self.worst_alone = max((self.worst_alone, *verdict.marginals))
        if not verdict.lossless:
            found = piece.size, verdict.instance, piece.family, index
            if self.smallest is None or found[:2] < self.smallest[:2]:
                self.smallest = found

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


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batch_pieces(families: Iterable[Sequence[Batch]], verifiers: Sequence[Verifier]) -> Iterator[Piece]:
    """The work on batches; verifiers that do not fit are left out."""
    fit = []
    for verifier in verifiers:
        with suppress(BadInput):
            must_verify(verifier)
            fit.append(verifier)
    for family in families:
        first = family[0]
        drafts = first.outcomes
        for start in range(0, len(family), chunk(drafts)):
            indices = range(start, min(start + chunk(drafts), len(family)))
            vocab = max(request.vocab for request in first.requests)
            yield Piece(family, indices, tuple(fit), "batch", (drafts, vocab))


def pieces(families: Iterable[Family], verifiers: Sequence[Verifier], force: bool = False) -> Iterator[Piece]:
    """Splits the work into pieces. A family reduced by symmetry is left out for verifiers that order
    tokens.
    """
    for family in families:
        if not len(family):
            continue
        first = family[0]
        fit = [each for each in verifiers if force or applies(each, first)]
        if getattr(family, "symmetric", False):
            fit = [each for each in fit if not each.ordered]
        drafts = first.draft.outcomes(first.vocab)
        step = chunk(drafts)
        for start in range(0, len(family), step):
            indices = range(start, min(start + step, len(family)))
            yield Piece(family, indices, tuple(fit), first.draft.label, (drafts, first.vocab))


def chunk(drafts: int) -> int:
    """The number of instances per piece, if each has this many drafts; a piece takes a few seconds at
    most.
    """
    return max(1, min(64, 3_000 // drafts))


def judged(piece: Piece) -> list[tuple[int, Verdict]]:
    """The verdicts of one piece of work: (index in the family, verdict)."""
    return [
        (index, judge_any(instance, verifier))
        for index in piece.indices
        for instance in [piece.family[index]]
        for verifier in piece.verifiers
    ]


def run(work: Sequence[Piece], jobs: int) -> Iterator[tuple[Piece, list[tuple[int, Verdict]]]]:
    """Every piece with its verdicts, as they are finished, on `jobs` processes.

    A KeyboardInterrupt ends the workers and is raised again; results yielded before it stay valid.
    """
    if jobs < 1:
        raise BadInput(f"--jobs must be at least 1, not {jobs}")
    if jobs == 1:
        for piece in work:
            yield piece, judged(piece)
        return
    executor = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    pending: dict[Future[list[tuple[int, Verdict]]], Piece] = {}
    try:
        # Workers inherit the signal mask, so that only the parent receives Ctrl-C, once all workers have
        # started.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pending = {executor.submit(judged, piece): piece for piece in work}
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for future in as_completed(pending):
            yield pending[future], future.result()
    except (KeyboardInterrupt, GeneratorExit):
        for worker in active_children():
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
