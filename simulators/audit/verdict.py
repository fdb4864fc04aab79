"""The audit itself: small instances first, then the edges, then one report."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import numpy as np

from simulators.audit.battery import battery, rounds_battery, short_battery
from simulators.audit.door import SECONDS, Fault, Watch, watched
from simulators.audit.extremes import Finding, at_the_edges, with_nan, with_padding
from simulators.audit.report import Report
from simulators.audit.run import Case, case, wanted
from simulators.audit.sources import Chance
from simulators.audit.statistical import sampled_against
from simulators.audit.targets import Function, Target
from simulators.audit.world import NotEnumerable
from simulators.witness import shrink
from theory.instance import Instance
from theory.law import continued
from theory.numbers import ONE
from theory.rows import Prefix


def _chosen(vocab: int, depth: int, iterations: int, slow: bool) -> list[Instance]:
    if slow:
        return list(short_battery(vocab, depth))
    return list(battery(vocab, depth) if iterations == 1 else rounds_battery(vocab, depth))


def examine(
    verify: Callable[..., Any] | Target,
    *,
    vocab: int = 3,
    depth: int = 2,
    dtype: str | None = None,
    instances: Sequence[Instance] | None = None,
    edges: bool = True,
    seconds: float = SECONDS,
    runs: int = 0,
    iterations: int = 1,
    padding: bool = False,
    smallest: bool = True,
) -> Report:
    """The report on a verifier somebody else wrote (`targets.Function` says how it is called).

    `vocab` and `depth` bound the instances, or `instances` names them; `dtype` is the arithmetic
    the function computes in; `seconds` limits one call. A function that cannot be enumerated is
    not decided, or with `runs` is tested statistically on that many runs. Over several `iterations`
    the joint law of the first tokens is judged, with what the target keeps between them; `padding`
    also gives it drafts that end in -1. Raises BadInput.

    >>> def first_is_right(p, q, x, rng):
    ...     return [int(rng.choice(len(p[0]), p=p[0]))]
    >>> examine(first_is_right, vocab=2, depth=1).lossless
    True
    """
    target: Target = verify if hasattr(verify, "prepare") else Function(verify, dtype=dtype)  # type: ignore[assignment]
    started = monotonic()
    slow = getattr(target, "slow", False)
    chosen = _chosen(vocab, depth, iterations, slow) if instances is None else list(instances)
    found: dict[str, Finding] = {}
    undecided, evidence, failing, worst, done = "", None, None, None, 0
    with watched(seconds, getattr(target, "namespace", None)) as watch:
        try:
            worst, failing, done = _enumerated(target, watch, chosen, found, iterations, smallest)
            if edges and failing is None:
                for instance in _small(chosen):
                    at_the_edges(target, watch, instance, found)
                with_nan(target, watch, chosen[0], found)
                if padding:
                    with_padding(target, watch, chosen[0], found)
        except NotEnumerable as error:
            undecided = str(error)
            if runs:
                evidence = _tested(target, watch, chosen, runs)
        except Fault as fault:
            found[fault.kind] = Finding(fault.kind, fault.what)
        for kind, what in watch.remarks.items():
            found.setdefault(kind, Finding(kind, what))
    fatal = "hangs" in found or failing is not None or (evidence is not None and evidence.evidence.rejected)
    lossless = False if fatal else (None if undecided else True)
    return Report(
        target.name,
        target.adapter + (", coins by bisection" if watch.bisected else ""),
        lossless,
        failing or worst,
        done,
        tuple(found.values()),
        str(evidence or ""),
        undecided,
        round(monotonic() - started, 3),
    )


def assert_lossless(verify: Callable[..., Any] | Target, *, strict: bool = False, **options: Any) -> Report:
    """Raises AssertionError with the smallest instance and the wrong prefix unless lossless.

    With `strict` findings at the edges fail too. Options are those of `examine`. A function that
    cannot be enumerated fails; with `runs=N` it passes when N runs show nothing.

    >>> def one_short(p, q, x, rng):
    ...     return [*x, rng.choice(len(p[0]), p=p[0])]
    >>> assert_lossless(one_short)
    Traceback (most recent call last):
    AssertionError: one_short (numpy function): NOT lossless
    ...
    """
    report = examine(verify, **options)
    passed = bool(report.lossless) or (report.lossless is None and bool(report.statistical))
    if not passed or (strict and report.findings):
        raise AssertionError(str(report))
    return report


def _enumerated(
    target: Target,
    watch: Watch,
    chosen: Sequence[Instance],
    found: dict[str, Finding],
    rounds: int,
    smallest: bool,
) -> tuple[Case | None, Case | None, int]:
    worst: Case | None = None
    for n, instance in enumerate(chosen, 1):
        now = case(target, watch, instance, rounds)
        for kind, what in now.emitted.faults.items():
            said = f"{what}, with probability {float(now.emitted.lost):.3g}, on {instance.name}"
            found.setdefault(kind, Finding(kind, said))
        if not now.lossless:
            broken = now.emitted.lost > now.bound
            keep = broken or not smallest
            return None, now if keep else _smallest(target, watch, now, rounds), n
        if worst is None or now.total_variation > worst.total_variation:
            worst = now
    return worst, None, len(chosen)


def _smallest(target: Target, watch: Watch, failing: Case, rounds: int) -> Case:
    def fails(instance: Instance) -> bool:
        try:
            return not case(target, watch, instance, rounds).lossless
        except (NotEnumerable, Fault):
            return False

    return case(target, watch, shrink(failing.instance, fails, 1.0), rounds)


def _small(chosen: Sequence[Instance]) -> list[Instance]:
    least = min(instance.draft.outcomes(instance.vocab) for instance in chosen)
    return [each for each in chosen if each.draft.outcomes(each.vocab) <= max(4, least)]


def _tested(target: Target, watch: Watch, chosen: Sequence[Instance], runs: int) -> Any:
    # On the toy of the largest size: what it emits, continued by the target, against the exact law.
    instance, rng = chosen[-1], np.random.Generator(np.random.PCG64())
    source, length = Chance(rng), chosen[-1].draft.depth + 1

    def draw() -> Prefix:
        target.fresh()
        source.keyed.clear()
        draft = instance.draft.draw(_Tossed(source), instance.proposal)
        try:
            word = target.call(watch, source, target.prepare(instance.target, draft), 0)
        except Fault as fault:
            if fault.kind == "hangs":
                raise
            return ()
        longer = list(continued(word, ONE, instance.target, length))
        return longer[source.choose([float(mass) for _, mass in longer])][0]

    return sampled_against(draw, wanted(instance), runs)


class _Tossed:
    def __init__(self, source: Chance):
        self.source = source

    def choose(self, row: Any) -> int:
        return self.source.choose([float(x) for x in row])

    def accept(self, probability: Any) -> bool:
        return self.source.uniform() < float(probability)
