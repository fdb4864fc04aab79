"""The audit itself: small instances first, then the edges, then one report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from simulators.anytime import ERROR
from simulators.audit.door import SECONDS, Fault, Observer, Watch, watched
from simulators.audit.judge.battery import TELLING, battery, rounds_battery, short_battery, steep
from simulators.audit.judge.case import Case, case
from simulators.audit.judge.extremes import Finding, at_the_edges, with_equal_rows, with_nan, with_padding
from simulators.audit.judge.report import Report
from simulators.audit.judge.run import TooLarge
from simulators.audit.judge.statistical import RUNS, Sampled, Small, sampled
from simulators.audit.judge.statistical import SECONDS as TESTING
from simulators.audit.judge.wide import Wide
from simulators.audit.randomness.world import NotEnumerable
from simulators.audit.targets.target import Function, Target
from simulators.instances.scenarios import scenario
from simulators.witness import shrink
from theory.drafts.chain import Chain
from theory.errors import BadInput
from theory.instance import Instance

VOCAB, DEPTH = 3, 2
"""Default bounds of the instances."""

ENTRIES = 10**6
"""Largest vocabulary times depth of a test on samples."""


def examine(
    verify: Callable[..., Any] | Target,
    *,
    vocab: int = VOCAB,
    depth: int = DEPTH,
    dtype: str | None = None,
    instances: Sequence[Instance] | None = None,
    edges: bool = True,
    seconds: float = SECONDS,
    runs: int = RUNS,
    iterations: int = 1,
    padding: bool = False,
    smallest: bool = True,
    statistical: bool = False,
    rows: Path | None = None,
    observer: Observer | None = None,
) -> Report:
    """The report on a verifier somebody else wrote (`targets.Function` says how it is called).

    `vocab` and `depth` bound the instances, or `instances` names them; `dtype` is the arithmetic
    the function computes in; `seconds` limits one call. Over several `iterations` the joint law of
    the first tokens is judged, with what the target keeps between them; `padding` also gives it
    drafts that end in -1. A function that cannot be enumerated is tested on `runs` random runs of
    each of a few instances: that may reject it, and else leaves it undecided.

    With `statistical` nothing is enumerated: `runs` runs on random rows over `vocab` tokens, any
    number of them, or on the `rows` of a .npz file (`wide.Wide`), decide. Raises BadInput.

    >>> def first_is_right(p, q, x, rng):
    ...     return [int(rng.choice(len(p[0]), p=p[0]))]
    >>> examine(first_is_right, vocab=2, depth=1).lossless
    True
    """
    target: Target = verify if hasattr(verify, "prepare") else Function(verify, dtype=dtype)  # type: ignore[assignment]
    started = monotonic()
    wide = _wide(vocab, depth, rows) if statistical else None
    chosen = [] if wide else _chosen(vocab, depth, iterations, target.slow, instances)
    seen = _Seen(observer or Observer())
    with watched(seconds, target.namespace, observer) as watch:
        try:
            if wide:
                seen.test(sampled(target, watch, wide, runs, native=True))
            else:
                _enumerated(target, watch, chosen, seen, iterations, smallest)
                if edges and seen.failing is None:
                    _at_the_edges(target, watch, chosen, seen.found, padding)
        except NotEnumerable as error:
            seen.undecided = str(error)
            if runs and iterations == 1:
                _on_samples(target, watch, vocab, depth, runs, seen)
        except Fault as fault:
            seen.found[fault.kind] = Finding(fault.kind, fault.what)
        for kind, what in watch.remarks.items():
            seen.found.setdefault(kind, Finding(kind, what))
    return Report(
        target.name,
        target.adapter + (", coins by bisection" if watch.bisected else ""),
        seen.lossless,
        seen.failing or seen.worst,
        seen.done,
        tuple(seen.found.values()),
        seen.sampled,
        seen.undecided,
        seen.too_large,
        round(monotonic() - started, 3),
    )


def assert_lossless(verify: Callable[..., Any] | Target, *, strict: bool = False, **options: Any) -> Report:
    """Raises AssertionError with the smallest instance and the wrong prefix unless lossless.

    With `strict` findings at the edges fail too. Options are those of `examine`. A function that
    cannot be enumerated fails, unless `statistical` says that a test on samples is enough.

    >>> def one_short(p, q, x, rng):
    ...     return [*x, rng.choice(len(p[0]), p=p[0])]
    >>> assert_lossless(one_short)
    Traceback (most recent call last):
    AssertionError: one_short (numpy function): NOT lossless
    ...
    """
    report = examine(verify, **options)
    if not report.lossless or (strict and report.findings):
        raise AssertionError(str(report))
    return report


@dataclass
class _Seen:
    observer: Observer
    found: dict[str, Finding] = field(default_factory=dict)
    worst: Case | None = None
    failing: Case | None = None
    done: int = 0
    undecided: str = ""
    too_large: str = ""
    sampled: Sampled | None = None

    @property
    def lossless(self) -> bool | None:
        rejected = self.sampled is not None and self.sampled.rejected
        if "hangs" in self.found or self.failing is not None or rejected:
            return False
        return None if self.undecided else True

    def test(self, sampled: Sampled) -> None:
        self.sampled = sampled
        for kind, what in sampled.faults.items():
            self.found.setdefault(kind, Finding(kind, what))


def _chosen(
    vocab: int, depth: int, iterations: int, slow: bool, instances: Sequence[Instance] | None
) -> list[Instance]:
    if instances is not None:
        return list(instances)
    if slow:
        return list(short_battery(vocab, depth))
    full = list(battery(vocab, depth))  # which refuses sizes that are too large
    return full if iterations == 1 else list(rounds_battery(vocab, depth))


def _wide(vocab: int, depth: int, rows: Path | None) -> Wide:
    if rows is not None:
        return Wide.read(rows)
    if vocab < 2 or depth < 1 or vocab * depth > ENTRIES:
        raise BadInput(
            f"vocabulary {vocab:,} and depth {depth}: at least 2 and 1, and at most {ENTRIES:,} together"
        )
    return Wide.peaked(vocab, depth)


def _enumerated(
    target: Target, watch: Watch, chosen: Sequence[Instance], seen: _Seen, rounds: int, smallest: bool
) -> None:
    limit = None
    for n, instance in enumerate(chosen):
        work = instance.draft.outcomes(instance.vocab)
        if limit is not None and work >= limit:
            continue
        seen.observer.turns_to(instance.name, n, len(chosen))
        try:
            now = case(target, watch, instance, rounds)
        except TooLarge as error:
            limit, seen.too_large = work, str(error)
            continue
        seen.done += 1
        for kind, what in now.emitted.faults.items():
            said = f"{what}, with probability {float(now.emitted.lost):.3g}, on {instance.name}"
            seen.found.setdefault(kind, Finding(kind, said))
        if not now.lossless:
            keep = now.emitted.lost > now.bound or not smallest
            seen.failing = now if keep else _smallest(target, watch, now, rounds)
            return
        if seen.worst is None or now.total_variation > seen.worst.total_variation:
            seen.worst = now
    if not seen.done:
        raise NotEnumerable(seen.too_large)


def _smallest(target: Target, watch: Watch, failing: Case, rounds: int) -> Case:
    def fails(instance: Instance) -> bool:
        try:
            return not case(target, watch, instance, rounds).lossless
        except (NotEnumerable, Fault):
            return False

    return case(target, watch, shrink(failing.instance, fails, 1.0), rounds)


def _at_the_edges(
    target: Target, watch: Watch, chosen: Sequence[Instance], found: dict[str, Finding], padding: bool
) -> None:
    least = min(instance.draft.outcomes(instance.vocab) for instance in chosen)
    for instance in chosen:
        if instance.draft.outcomes(instance.vocab) <= max(4, least):
            at_the_edges(target, watch, instance, found)
    with_nan(target, watch, chosen[0], found)
    if padding:
        with_padding(target, watch, chosen[0], found)
    if not target.slow:
        with_equal_rows(target, watch, chosen[-1].vocab, chosen[-1].draft.depth, found)


def _on_samples(target: Target, watch: Watch, vocab: int, depth: int, runs: int, seen: _Seen) -> None:
    # The error level and the time are shared by the instances; the first rejection decides.
    if target.drafts:
        return
    names = TELLING[:1] if target.slow else TELLING
    telling = [*(scenario(name, Chain(depth), vocab) for name in names), steep(vocab, depth)]
    for instance in telling:
        error, seconds = ERROR / len(telling), TESTING / len(telling)
        now = sampled(target, watch, Small(instance), runs, error, seconds)
        if seen.sampled is None or now.rejected or now.detectable > seen.sampled.detectable:
            seen.test(now)
        if now.rejected:
            return
