"""The audit: small instances first, then coins at the edges, then one report."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from draftproof.simulators.audit.battery import CORE, DEPTH, VOCAB, battery, steep
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.batches import BatchCase, batch_case
from draftproof.simulators.audit.judge.edges import findings_at_edges
from draftproof.simulators.audit.judge.exact import DeclaredTarget, Judge, TooLarge, case, shrunk
from draftproof.simulators.audit.judge.replay import wrong_run
from draftproof.simulators.audit.judge.report import Report, named
from draftproof.simulators.audit.judge.samples import (
    RUNS,
    TEST_SECONDS,
    LargeVocabulary,
    SmallInstance,
    sampled,
)
from draftproof.simulators.audit.processors import Missing, processed_already, processed_battery
from draftproof.simulators.audit.sandbox import SECONDS, Fault, Observer, Sandbox, sandboxed
from draftproof.simulators.audit.targets.base import DraftVerifier, Target
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.audit.targets.selection import Selection
from draftproof.simulators.audit.targets.signatures import infer_signature
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.support.anytime import ERROR
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.selection.batch import Batch
from draftproof.theory.targets import declared

BISECTED = 30.0  # seconds after which a target whose coins are read by bisection gets no more instances
UNREAD = {"raises", "returns garbage"}  # what every call does that is not made as the function is written

FEW = 4  # instances on which the second call of a class is judged
ENTRIES = 10**6  # largest vocabulary times depth of a test on samples


def examine(
    verify: Callable[..., Any] | Target,
    *,
    vocab: int = VOCAB,
    depth: int = DEPTH,
    dtype: str | None = None,
    instances: Sequence[Any] | None = None,
    edges: bool = True,
    seconds: float = SECONDS,
    runs: int = RUNS,
    iterations: int = 1,
    padding: bool = False,
    processors: bool = False,
    smallest: bool = True,
    statistical: bool = False,
    rows: Path | None = None,
    against: str | None = None,
    own_bonus: bool = False,
    limit: int | None = None,
    observer: Observer | None = None,
) -> Report:
    """The report on a verifier somebody else wrote (`Function` says how it is called). Raises BadInput.

    `vocab` and `depth` bound the instances, or `instances` lists them (batches for a `Selection`); `dtype` is
    the arithmetic the function computes in; `seconds` limits the processor
    time of one call (`sandbox.WAITS` times as long by the clock). With several `iterations` the joint
    law of the first tokens is checked, including state that the target keeps between iterations. `padding`
    also tries drafts that end in -1; `processors` takes as instances rows changed by grammars, filters and
    penalties, and drafts with missing tokens (`processed_battery`); `edges` tries coins at the ends of
    [0, 1); `smallest` shrinks a failing instance. A function that cannot be enumerated is tested on `runs`
    random runs of each of a few instances, which either rejects it or leaves it undecided. With `statistical`
    nothing is enumerated: the verdict is that of `runs` runs on random rows over any number of tokens, or on
    the `rows` of a .npz file. `against` names a declared target in place of p, and `own_bonus` says
    that the extra token after a whole accepted draft follows it too, as a text over several calls must.
    `limit` is the largest number of runs of a loop, or over several rounds, on one instance.

    >>> def first_is_right(p, q, x, rng):
    ...     return [int(rng.choice(len(p[0]), p=p[0]))]
    >>> examine(first_is_right, vocab=2, depth=1).lossless
    True
    """
    target = verify if isinstance(verify, Target) else infer_signature(verify, dtype=dtype, seconds=seconds)
    aim = _aim(against, own_bonus, target.whole or iterations > 1, statistical)
    started, verifier = monotonic(), target if isinstance(target, DraftVerifier) else None
    if (padding and verifier is None) or (statistical and verifier is None and not target.whole):
        raise BadInput(f"a {target.adapter} is not tested on samples, nor with padding")
    target.limit = limit or target.limit
    if isinstance(target, Selection) and iterations > 1:
        raise BadInput("a selection rule is judged over one call")
    if isinstance(target, Selection) and instances is not None:
        instances = [replace(each, rule=target.rule) for each in instances]
    if statistical and target.whole and rows is not None:
        raise BadInput("a generation loop is tested on small instances, not on rows of a file")
    wide = _wide(vocab, depth, rows) if statistical and verifier is not None else None
    if processors and (verifier is None or statistical or iterations > 1):
        raise BadInput("processors go with a verifier, over one call, and without samples")
    if wide is None and instances is None and processors:
        instances = list(processed_battery(vocab, depth, target.slow))
    elif wide is None and instances is None:
        instances = target.instances(vocab, depth, iterations)
    twice = list(battery(2, 1, 2)) if verifier else []  # made here: in the sandbox chance is the target's
    report, observer = Report(target.name, target.adapter), observer or Observer()
    with sandboxed(seconds, target.namespace, observer, target.name) as sandbox:
        try:
            if wide is not None and verifier is not None:
                report.add_sampled(sampled(verifier, sandbox, wide, runs, native=True))
                if sandbox.current.constant:
                    report.undecided = f"the same seed in every call: {sandbox.current.constant}"
            elif statistical:
                _test(target, sandbox, vocab, depth, runs, report)
            else:
                batches = isinstance(target, Selection)
                judge: Judge = partial(case, target, sandbox, rounds=iterations, aim=aim)
                judge = partial(batch_case, target, sandbox) if batches else judge
                _enumerate(judge, sandbox, list(instances or ()), report, smallest, aim)
                if not batches and aim is None and report.failing is None:
                    if sandbox.current.constant and iterations == 1:
                        _seeded(target, sandbox, report, twice)
                    elif getattr(target, "stateful", False) and iterations == 1:
                        _wrong_in_two_calls(target, sandbox, report, twice[:FEW], "keeps state")
                    if edges and report.failing is None:
                        findings_at_edges(target, sandbox, list(instances or ()), report, padding)
        except NotEnumerable as error:
            report.undecided = str(error)
            tested = target.whole or (verifier is not None and verifier.draw is None)
            if runs and iterations == 1 and aim is None and tested:
                observer.progress(
                    0, 0, f"cannot be enumerated ({error}); testing random runs, up to {TEST_SECONDS:.0f} s"
                )
                with suppress(NotEnumerable):  # nor can it be tested
                    _test(target, sandbox, vocab, depth, runs, report)
        except Fault as fault:
            report.found.pop(fault.kind, None)
            report.note(fault.kind, fault.what, fatal=fault.kind == "hangs")
        if report.failing is not None:
            report.run, report.no_run = wrong_run(target, sandbox, report.failing)
        for kind, what in sandbox.remarks.items():
            report.note(kind, what)
    report.tokens = report.tokens + iterations if target.whole and report.instances else 0
    report.adapter += ", coins by bisection" if sandbox.bisected else ""
    report.seconds = round(monotonic() - started, 3)
    return report


def assert_lossless(verify: Callable[..., Any] | Target, *, strict: bool = False, **options: Any) -> Report:
    """The report of `examine`; raises AssertionError with what was found unless it is lossless.

    With `strict` findings at the edges fail too. Options are those of `examine`. A function that cannot be
    enumerated fails, unless `statistical` is set and the test on samples passes. All calls are made in one
    process, so a result that depends on the order of a set of texts passes unless PYTHONHASHSEED is varied.

    >>> def one_short(p, q, x, rng):
    ...     return [*x, rng.choice(len(p[0]), p=p[0])]
    >>> assert_lossless(one_short)
    Traceback (most recent call last):
    AssertionError: one_short (numpy function): NOT lossless: its law is not the target's
    ...
    """
    __tracebackhide__ = True  # in pytest the report comes first, and not this file's lines
    report = examine(verify, **options)
    if failure := report.failure(strict):
        raise AssertionError(failure)
    return report


def _enumerate(
    judge: Judge,
    sandbox: Sandbox,
    chosen: Sequence[Any],
    report: Report,
    shrinks: bool,
    aim: DeclaredTarget | None,
) -> None:
    # Checks the instances, or batches, in turn until the target fails on one, which is shrunk. Drafts larger
    # than one that took too many runs are skipped. Raises NotEnumerable if no instance could be enumerated.
    limit, began = None, monotonic()
    for n, instance in enumerate(chosen):
        if sandbox.bisected and report.instances and monotonic() - began > BISECTED:
            report.skipped += len(chosen) - n
            report.too_large = "its coins are read by bisection, which is slow"
            break
        batch = isinstance(instance, Batch)
        size = instance.outcomes if batch else instance.draft.outcomes(instance.vocab)
        if limit is not None and size >= limit:
            report.skipped += 1
            continue
        sandbox.observer.progress(n, len(chosen), named(instance))
        try:
            now = judge(instance)
        except TooLarge as error:
            limit, report.too_large = size, str(error)
            report.skipped += 1
            continue
        report.add(instance)
        report.tokens = max(report.tokens, 0 if batch else instance.draft.depth)
        unread = UNREAD if "function" in report.adapter else {"raises"}
        wrong = now.fault_mass == 1 and {*now.faults} <= unread
        if report.instances == 1 and wrong:
            raised = "; ".join(f"{kind}: {what}" for kind, what in now.faults.items())
            raise BadInput(
                f"not audited: every call of every draft {raised}; a wrong call is no law (docs/audit.md)"
            )
        report.token, report.text = report.token.largest(now.token), report.text.largest(now.text)
        for kind, what in now.faults.items():
            report.note(kind, f"{what}, with probability {float(now.fault_mass):.3g}, on {named(instance)}")
        if isinstance(now, BatchCase) and now.reads:
            report.note("reads a value that it decides about", f"{now.reads}, on {named(instance)}")
        if now.faults and not batch and isinstance(instance.draft, Missing):
            continue  # it does not take missing drafts, which is no law
        report.undecided = report.undecided or now.unknown
        if not now.met and report.failing is None:
            whole = now.fault_mass > now.bound or (not batch and processed_already(instance))
            report.failing = shrunk(judge, now, shrinks and not whole)
            if getattr(report.failing, "follows_proposal", False):
                what = "q's, not p's: it keeps every draft, or target and draft are swapped"
                report.note("has the proposal's law", what)
            if aim is None:
                return  # against another target all instances are measured
        report.seen.append(now)
        if report.worst is None or now.total_variation > report.worst.total_variation:
            report.worst = now
    if not report.instances:
        raise NotEnumerable(report.too_large)


def _wrong_in_two_calls(
    target: Target, sandbox: Sandbox, report: Report, twice: Sequence[Instance], kind: str, what: str = ""
) -> bool:
    # What a function keeps between calls can make its second call wrong.
    for instance in twice:
        now = case(target, sandbox, instance, 2)
        if not now.met:
            report.failing = now
            report.note(kind, f"{what}the law over two calls is wrong, that of one call is not")
            return True
    return False


def _seeded(target: Target, sandbox: Sandbox, report: Report, twice: Sequence[Instance]) -> None:
    # One call was judged on average over the seeds; in two calls a constant seed gives the same coins twice.
    constant, kind = sandbox.current.constant, "seeds its own generator"
    what = f"the same seed in every call: {constant}"
    if _wrong_in_two_calls(target, sandbox, report, twice, kind, f"{what}; "):
        return
    if isinstance(target, Function) and target.takes_position:
        report.note(kind, what)
        return
    raise NotEnumerable(
        f"it seeds its own generator with {what}; all its calls draw the same numbers, so it has no law; "
        "pass it an rng, or make the generator once"
    )


def _aim(against: str | None, own_bonus: bool, several: bool, statistical: bool) -> DeclaredTarget | None:
    if against is None:
        if own_bonus:
            raise BadInput("--own-bonus goes with --against")
        return None
    if statistical:
        raise BadInput("--against goes without --statistical")
    if several and not own_bonus:
        raise BadInput("over several calls a text follows LAW only with --own-bonus")
    return DeclaredTarget(declared(against), own_bonus)


def _wide(vocab: int, depth: int, rows: Path | None) -> LargeVocabulary:
    if rows is not None:
        return LargeVocabulary.read(rows)
    if vocab < 2 or depth < 1 or vocab * depth > ENTRIES:
        raise BadInput(
            f"vocabulary {vocab:,} and depth {depth}: at least 2 and 1, and at most {ENTRIES:,} together"
        )
    return LargeVocabulary.peaked(vocab, depth)


def _test(target: Target, sandbox: Sandbox, vocab: int, depth: int, runs: int, report: Report) -> None:
    # The error level and the time are divided among the instances; the first rejection decides.
    names = CORE[:1] if target.slow else CORE
    chosen = [*(scenario(name, Chain(depth), vocab) for name in names), steep(vocab, depth)]
    error, seconds = ERROR / len(chosen), TEST_SECONDS / len(chosen)
    for instance in chosen:
        words = SmallInstance(instance)
        try:
            now = sampled(target, sandbox, words, runs, error, seconds)
        except NotEnumerable:  # a random function without a stand-in
            now = sampled(target, sandbox, words, runs, error, seconds, native=True)
        if report.sampled is None or now.rejected or now.detectable > report.sampled.detectable:
            report.add_sampled(now)
        if now.rejected:
            return
