"""The audit: small instances first, then coins at the edges, then one report."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Any, Unpack

from draftproof.simulators.audit import load
from draftproof.simulators.audit.battery import CORE, battery, steep
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.batches import batch_case
from draftproof.simulators.audit.judge.edges import findings_at_edges
from draftproof.simulators.audit.judge.exact import Case, TooLarge, case, shrunk
from draftproof.simulators.audit.judge.final_draw import final_draw
from draftproof.simulators.audit.judge.invariant import varies
from draftproof.simulators.audit.judge.plan import Options, Plan, checked, plan_of
from draftproof.simulators.audit.judge.replay import wrong_run
from draftproof.simulators.audit.judge.report import Report, named
from draftproof.simulators.audit.judge.samples import TEST_SECONDS, sampled
from draftproof.simulators.audit.sandbox import Fault, Observer, sandboxed
from draftproof.simulators.audit.targets.base import DraftVerifier, Target
from draftproof.simulators.audit.targets.batches import ByRoles, Selection
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.support.anytime import ERROR
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.selection.batch import Batch

BISECTED_SECONDS = 30.0  # after which a target whose coins are read by bisection gets no more instances
BISECTED_LEAST = 20
"""Instances of which fewer decide nothing, where there are more that bisection had no time for."""
UNREAD = {"raises", "returns garbage"}  # what every call does that is not made as the function is written

PATIENCE = 10.0  # seconds in which some call must not raise
TOGETHER_SECONDS = 60.0  # in which two requests of batches are judged together
KEYED_INSTANCES = 2  # whose second call is judged if seeds are made of the text
TWO_CALL_INSTANCES = 4  # instances on which the second call of a class is judged


def examine(
    verify: Callable[..., Any] | Target | str, *, observer: Observer | None = None, **options: Unpack[Options]
) -> Report:
    """The report on a verifier somebody else wrote (`Function` says how it is called), or that a name stands
    for, as the command takes it.

    `judge.plan.Options` lists the options. A function that cannot be enumerated is tested on random runs of a
    few instances, which either rejects it or leaves it undecided; with `statistical` such a test is the
    verdict. Raises BadInput for a function that cannot be called, and for options that exclude each other.

    >>> def first_is_right(p, q, x, rng):
    ...     return [int(rng.choice(len(p[0]), p=p[0]))]
    >>> examine(first_is_right, vocab=2, depth=1).lossless
    True
    """
    started = monotonic()
    asked = checked(options)
    if isinstance(verify, Target):
        target = verify
    else:
        target = load.target(load.Subject(verify, dtype=asked["dtype"]), seconds=asked["seconds"])
    plan = plan_of(target, options)
    report = _Audit(target, plan, observer or Observer()).carried_out()
    report.seconds = round(monotonic() - started, 3)
    return report


def assert_lossless(
    verify: Callable[..., Any] | Target | str, *, strict: bool = False, **options: Unpack[Options]
) -> Report:
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
    report.strict = strict
    if failure := report.failure:
        error = AssertionError(failure)
        error.report = report  # type: ignore[attr-defined]  # the pytest plugin shows it
        raise error
    return report


class _Audit:
    # One audit under way: makes the calls that the plan asks for, and collects the report.
    def __init__(self, target: Target, plan: Plan, observer: Observer):
        self.target, self.plan, self.observer = target, plan, observer
        self.report = Report(target.name, target.adapter)
        if isinstance(target, ByRoles):
            self.report.requests, self.report.alone = target.requests, target.alone
        self.raising: Case | None = None  # the first on which it raises
        self.hopeless = ""  # what every call does, on all instances until now
        self.patience, self.deadline = monotonic() + PATIENCE, inf
        # Made here: in the sandbox chance is the target's.
        self.twice = list(battery(2, 1, 2)) if isinstance(target, DraftVerifier) else []

    def carried_out(self) -> Report:
        target, report, plan = self.target, self.report, self.plan
        with sandboxed(plan.seconds, target.namespace, self.observer) as sandbox:
            self.sandbox = sandbox
            try:
                if plan.float32 and isinstance(target, DraftVerifier):
                    report.undecided = "a final draw is judged by all its numbers"
                    report.final, report.undecided = final_draw(target, sandbox, plan.vocab), ""
                elif plan.statistical:
                    self.observer.progress(0, 0, "testing random runs")
                    self._test()
                    if sandbox.current.constant:
                        report.undecided = f"the same seed in every call: {sandbox.current.constant}"
                else:
                    self._enumerate()
            except NotEnumerable as error:
                report.undecided = str(error)
                takes = target.whole or (isinstance(target, DraftVerifier) and target.draw is None)
                tested = plan.statistical or plan.float32 or isinstance(target, Selection)
                if takes and not tested and plan.runs and plan.iterations == 1:
                    what = f"cannot be enumerated ({error}); testing random runs, up to {TEST_SECONDS:.0f} s"
                    self.observer.progress(0, 0, what)
                    with suppress(NotEnumerable):  # nor can it be tested
                        self._test()
            except Fault as fault:
                report.found.pop(fault.kind, None)
                report.note(fault.kind, fault.what, fatal=fault.kind == "hangs")
            if report.failing is not None:
                report.run = wrong_run(target, sandbox, report.failing)
            for kind, what in sandbox.remarks.items():
                report.note(kind, what)
        if target.idle:
            report.note("drafts nothing", "no row of the draft model was ever asked for")
        report.tokens = report.sizes[1] + plan.iterations if target.whole and report.instances else 0
        report.adapter += ", coins by bisection" if sandbox.bisected else ""
        return report

    def _enumerate(self) -> None:
        target, report, plan = self.target, self.report, self.plan
        try:
            self._judge_all()
        except NotEnumerable:
            if self.raising is None:
                raise
        if report.failing is None and self.raising is not None:  # a wrong law comes before: this is no law
            report.failing = shrunk(self._case, self.raising, shrinks=False)
        if isinstance(target, Selection) or report.failing is not None:
            return
        if plan.iterations == 1 and self.sandbox.current.constant:
            self._seeded()
        elif plan.iterations == 1 and getattr(target, "stateful", False):
            self._wrong_in_two_calls(self.twice[:TWO_CALL_INSTANCES], "keeps state")
        if report.failing is None:
            self._together()
        if plan.invariant and report.failing is None:
            report.varies = varies(target, self.sandbox)  # type: ignore[arg-type]
        if plan.edges and report.failing is None:
            findings_at_edges(target, self.sandbox, plan.chosen, report, plan.padding)

    def _case(self, instance: Instance | Batch) -> Case:
        if isinstance(instance, Batch):
            assert isinstance(self.target, ByRoles)
            return batch_case(self.target, self.sandbox, instance, max(self.deadline - monotonic(), 1.0))
        return case(self.target, self.sandbox, instance, self.plan.iterations)

    def _together(self) -> None:
        # The joint law of what two requests of a batch emit.
        report, batches = self.report, self.plan.batches
        self.deadline = monotonic() + TOGETHER_SECONDS
        try:
            for n, batch in enumerate(batches):
                self.observer.progress(n, len(batches), named(batch))
                now = self._case(batch)
                report.together += 1
                self._note_faults(now)
                if not now.lossless:
                    report.failing = shrunk(self._case, now, shrinks=now.fault_mass == 0)
                    return
        except NotEnumerable as error:
            report.apart = str(error)

    def _judge_all(self) -> None:
        # Judges the instances, or batches, in turn until the target fails on one. Drafts larger than one that
        # took too many runs are skipped. Raises NotEnumerable if no instance could be enumerated.
        report, chosen, sandbox = self.report, self.plan.chosen, self.sandbox
        limit, began, stopped = None, monotonic(), False
        for n, instance in enumerate(chosen):
            if sandbox.bisected and report.instances and monotonic() - began > BISECTED_SECONDS:
                report.skipped, stopped = report.skipped + len(chosen) - n, True
                report.too_large = (
                    f"its coins are read by bisection: {report.instances} in {BISECTED_SECONDS:g} s"
                )
                break
            batch = isinstance(instance, Batch)
            size = instance.outcomes if batch else instance.draft.outcomes(instance.vocab)
            if limit is not None and size >= limit:
                report.skipped += 1
                continue
            sandbox.observer.progress(n, len(chosen), named(instance))
            try:
                now = self._case(instance)
            except TooLarge as error:
                limit, report.too_large = size, str(error)
                report.skipped += 1
                continue
            if self._decided(now):
                return
        if self.hopeless:
            raise BadInput(self.hopeless)
        too_few = stopped and report.instances < BISECTED_LEAST and self.raising is None
        if not report.instances or too_few:
            raise NotEnumerable(report.too_large)

    def _decided(self, now: Case) -> bool:
        # Adds one instance to the report. Whether the audit ends with it: it fails, and it is shrunk.
        report, plan, instance = self.report, self.plan, now.instance
        report.add(instance)
        self._note_faults(now)
        report.undecided = report.undecided or now.unknown
        if {*now.faults} == {"raises"} and now.fault_mass > now.bound and not now.wrong:
            self.raising = self.raising or now
            return False
        if not now.lossless:
            whole = now.fault_mass > now.bound and now.wrong is None
            report.failing = shrunk(self._case, now, plan.smallest and not whole)
            return True
        if report.worst is None or now.total_variation > report.worst.total_variation:
            report.worst = now
        return False

    def _note_faults(self, now: Case) -> None:
        report, where = self.report, f"on {named(now.instance)}"
        unread = UNREAD if "function" in report.adapter else {"raises"}
        if now.fault_mass < 1 or not {*now.faults} <= unread:
            self.hopeless = ""
        elif report.instances == 1:
            raised = "; ".join(f"{kind}: {what}" for kind, what in now.faults.items())
            self.hopeless = f"not audited: every call of every draft {raised}; a wrong call is no law"
        late = self.target.slow or self.target.whole or monotonic() > self.patience
        if self.hopeless and (late or "returns garbage" in now.faults):
            raise BadInput(self.hopeless)
        for kind, what in now.faults.items():
            report.note(kind, f"{what}, with probability {float(now.fault_mass):.3g}, {where}")

    def _wrong_in_two_calls(self, twice: list[Instance], kind: str, what: str = "") -> bool:
        # What a function keeps between calls can make its second call wrong.
        judge = partial(case, self.target, self.sandbox, rounds=2)
        for instance in twice:
            now = judge(instance)
            if not now.lossless:
                self.report.failing = shrunk(judge, now, shrinks=False)
                self.report.note(kind, f"{what}the law over two calls is wrong, that of one call is not")
                return True
        return False

    def _seeded(self) -> None:
        # One call was judged on average over the seeds; in two calls a constant seed gives the same coins
        # twice.
        constant, kind = self.sandbox.current.constant, "seeds its own generator"
        of_text, twice = self.sandbox.current.of_text, self.twice
        what = f"the same seed in every call: {constant}"
        if of_text:
            over = "" if self.target.whole else ", of two calls"
            what = f"with the text, such as {constant}: judged by the law over all keys{over}"
            twice = [scenario(name, Chain(2)) for name in CORE[:KEYED_INSTANCES]] if twice else []
        try:
            if self._wrong_in_two_calls(twice, kind, f"{what}; "):
                return
        except NotEnumerable:
            self.report.note(kind, what)
            raise
        if of_text or self.target.takes("position"):
            self.report.note(kind, what)
            return
        raise NotEnumerable(
            f"it seeds its own generator with {what}; what is drawn from it comes again in all calls, which "
            "then have no law; pass it an rng, or make the generator once"
        )

    def _test(self) -> None:
        # The error level and the time are divided among the instances; the first rejection decides.
        target, report, plan = self.target, self.report, self.plan
        names = CORE[:1] if target.slow else CORE
        chosen = [scenario(name, Chain(plan.depth), plan.vocab) for name in names]
        chosen.append(steep(plan.vocab, plan.depth))
        error, seconds = ERROR / len(chosen), TEST_SECONDS / len(chosen)
        shows: tuple[bool, bool, float] = (False, False, -1.0)  # of what is reported, that it decides most
        for instance in chosen:
            now = sampled(target, self.sandbox, instance, plan.runs, error, seconds)
            if (now.rejected, bool(now.faults), now.detectable) > shows:
                shows = now.rejected, bool(now.faults), now.detectable
                report.sampled = now
                for kind, what in now.faults.items():
                    report.note(kind, what)
            if now.rejected:
                return
