"""The audit itself: small instances first, then the edges, then one report."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from draftproof.simulators.anytime import ERROR
from draftproof.simulators.audit.door import SECONDS, Fault, Observer, Watch, watched
from draftproof.simulators.audit.judge.battery import (
    TELLING,
    battery,
    rounds_battery,
    short_battery,
    short_rounds_battery,
    steep,
)
from draftproof.simulators.audit.judge.enumerated import enumerated
from draftproof.simulators.audit.judge.extremes import Finding, edges_of
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.judge.seen import Seen
from draftproof.simulators.audit.judge.statistical import RUNS, Small, sampled
from draftproof.simulators.audit.judge.statistical import SECONDS as TESTING
from draftproof.simulators.audit.judge.whole import edges_of_whole
from draftproof.simulators.audit.judge.wide import Wide
from draftproof.simulators.audit.randomness.world import NotEnumerable
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.simulators.audit.targets.target import Function, Target
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

VOCAB, DEPTH = 3, 2
"""Default bounds of the instances."""

ENTRIES = 10**6
"""Largest vocabulary times depth of a test on samples."""


def examine(
    verify: Callable[..., Any] | Target | Loop,
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
    target: Target | Loop = verify if hasattr(verify, "prepare") else Function(verify, dtype=dtype)  # type: ignore[assignment]
    started = monotonic()
    if isinstance(target, Loop) and (statistical or padding):
        raise BadInput("a generation loop is not tested on samples, nor with padding")
    wide = _wide(vocab, depth, rows) if statistical else None
    chosen = [] if wide else _chosen(vocab, depth, iterations, target, instances)
    seen = Seen(observer or Observer())
    with watched(seconds, target.namespace, observer) as watch:
        try:
            if wide and not isinstance(target, Loop):
                seen.test(sampled(target, watch, wide, runs, native=True))
            else:
                enumerated(target, watch, chosen, seen, iterations, smallest)
                if edges and seen.failing is None:
                    if isinstance(target, Loop):
                        edges_of_whole(target, watch, chosen, seen.found)
                    else:
                        edges_of(target, watch, chosen, seen.found, padding)
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


def assert_lossless(
    verify: Callable[..., Any] | Target | Loop, *, strict: bool = False, **options: Any
) -> Report:
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


def _chosen(
    vocab: int, depth: int, iterations: int, target: Target | Loop, instances: Sequence[Instance] | None
) -> list[Instance]:
    if instances is not None:
        return list(instances)
    if target.slow and iterations > 1:
        return list(short_rounds_battery(depth))
    if target.slow:
        return list(short_battery(vocab, depth))
    full = list(battery(vocab, depth))  # which refuses sizes that are too large
    several = iterations > 1 or target.whole
    return list(rounds_battery(vocab, depth)) if several else full


def _wide(vocab: int, depth: int, rows: Path | None) -> Wide:
    if rows is not None:
        return Wide.read(rows)
    if vocab < 2 or depth < 1 or vocab * depth > ENTRIES:
        raise BadInput(
            f"vocabulary {vocab:,} and depth {depth}: at least 2 and 1, and at most {ENTRIES:,} together"
        )
    return Wide.peaked(vocab, depth)


def _on_samples(target: Target | Loop, watch: Watch, vocab: int, depth: int, runs: int, seen: Seen) -> None:
    # The error level and the time are shared by the instances; the first rejection decides.
    if isinstance(target, Loop) or target.draw is not None:
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
