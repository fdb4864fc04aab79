"""What a foreign function emits on one instance, every way its coins can fall."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from flint import fmpq

from draftproof.simulators.audit.door import Fault, Watch
from draftproof.simulators.audit.randomness.coins import law_by_boxes
from draftproof.simulators.audit.randomness.sources import Every, Fixed, Source
from draftproof.simulators.audit.randomness.world import NotEnumerable, Opaque
from draftproof.simulators.audit.targets.target import Target
from draftproof.simulators.enumerate import drafts, outcomes
from draftproof.theory.draft import Draft
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix

RUNS, SECONDS = 400_000, 600.0
"""Most runs of a function on one instance, and the longest they may take together."""

Result = TypeVar("Result")


class TooLarge(NotEnumerable):
    """There are more runs than can be done; smaller instances may still be enumerated."""


@dataclass(frozen=True)
class Emitted:
    """The law of the words, E[tau], the mass of runs that went wrong, and how (kind -> what happened)."""

    law: Law
    accepted: fmpq
    lost: fmpq
    faults: dict[str, str]


def gathered(runs: Iterable[tuple[fmpq, tuple[Prefix, int] | Fault]]) -> Emitted:
    """What runs emit together: each its mass, and its word and tau (of the first round), or a fault."""
    words: list[tuple[Prefix, fmpq]] = []
    accepted, lost = ZERO, ZERO
    faults: dict[str, str] = {}
    for mass, result in runs:
        if isinstance(result, Fault):
            lost += mass
            faults.setdefault(result.kind, result.what)
        else:
            word, tau = result
            words.append((word, mass))
            accepted += mass * tau
    return Emitted(Law(words), accepted, lost, faults)


def every_run(
    program: Callable[[Source], Result], weight: fmpq, deadline: float
) -> Iterator[tuple[fmpq, Result | Fault]]:
    """(weight, result or fault) of every way that the random calls of a program can fall."""
    runs = outcomes(lambda oracle: run_or_fault(program, Every(oracle)), weight)
    for n, found in enumerate(runs):
        if n >= RUNS or monotonic() > deadline:
            raise TooLarge(f"there are more than {n:,} ways its coins can fall")
        yield found


def run_or_fault(program: Callable[[Source], Result], source: Source) -> Result | Fault:
    """One run; a fault that ends it is returned, except that of a call that hangs."""
    try:
        return program(source)
    except Fault as fault:
        if fault.kind == "hangs":
            raise
        return fault


def emit(target: Target, watch: Watch, instance: Instance, seconds: float = SECONDS) -> Emitted:
    """All that a target emits on one instance; raises Fault when it hangs, or NotEnumerable."""
    return gathered(_on_every_draft(target, watch, instance, monotonic() + seconds))


def _on_every_draft(
    target: Target, watch: Watch, instance: Instance, deadline: float
) -> Iterator[tuple[fmpq, tuple[Prefix, int] | Fault]]:
    tested = target.slow and watch.repeats
    for weight, draft in drafts(instance):
        prepared = target.prepare(instance.target, draft)

        def once(source: Source, prepared: object = prepared) -> Prefix:
            target.fresh()
            return target.call(watch, source, prepared, 0)

        if not tested:
            must_repeat(once)
            tested = watch.repeats = True
        for mass, word in _runs(once, weight, deadline, watch):
            if isinstance(word, Fault):
                yield mass, Fault(word.kind, f"{word.what} (drafted {bare(draft)})")
            else:
                yield mass, (word, len(word) - 1)


def _runs(
    once: Callable[[Source], Prefix], weight: fmpq, deadline: float, watch: Watch
) -> Iterator[tuple[fmpq, Prefix | Fault]]:
    # Every way the coins can fall; where the function wants plain numbers, by bisection.
    if not watch.bisected:
        try:
            yield from list(every_run(once, weight, deadline))
            return
        except Opaque:
            watch.bisected = True

    def careful(source: Source) -> Prefix | Fault:
        if monotonic() > deadline:
            raise TooLarge("reading its coins by bisection takes too long")
        return run_or_fault(once, source)

    yield from law_by_boxes(careful, weight)


def must_repeat(once: Callable[[Source], object]) -> None:
    """With the same coins it must do the same, or it has coins that nobody answers here: NotEnumerable."""

    def told(coin: float) -> object:
        try:
            return once(Fixed([coin]))
        except Fault as fault:
            if fault.kind == "hangs":
                raise
            return str(fault)

    for coin in (0.5, 0.9, 0.1):
        if len({told(coin) for _ in range(4)}) > 1:
            raise NotEnumerable("with the same coins it does not do the same: it draws others, unseen")


def bare(draft: Draft) -> str:
    """The drafted paths as token ids."""
    start = len(draft.root.prefix)
    return ", ".join(" ".join(map(str, path[-1].prefix[start:])) for path in draft.paths)
