"""The exact law of a target's output on one instance, and the verdict on it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from random import Random
from time import monotonic
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.simulators.audit.coins.bisection import law_by_boxes
from draftproof.simulators.audit.coins.sources import Every, Fixed, Source
from draftproof.simulators.audit.coins.state import NotEnumerable, Opaque, dyadic
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import Program, Target
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.simulators.laws.optimum import best_stateless
from draftproof.simulators.laws.size import Descent
from draftproof.simulators.laws.verdict import Wrong
from draftproof.simulators.laws.witness import shrink
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ZERO
from draftproof.theory.selection.batch import Batch

BISECTION_SECONDS = 120.0  # seconds of bisection
INSTANCE_RUNS, INSTANCE_SECONDS = 400_000, 600.0  # most runs of a function on one instance, and seconds
PROBES, SLOW_PROBES = 60, 6  # random runs that estimate the number of all runs; the same for a slow target

FIRST_CHECKED, CHECKED_EVERY = 500, 8  # the first runs of a failing instance; elsewhere every eighth
SEEDED, VALUES = 4, 16  # first runs of a draft with an integer as a seed, and other values that are tried
HIDDEN = (
    "the same coins give different results: it depends on earlier calls, or draws from a generator of its "
    "own, the system's entropy or the clock, which cannot be followed; pass it an rng"
)

GONE = (
    "a failure did not recur: its result depends on something that cannot be followed, as earlier calls, the "
    "clock or the system's entropy"
)


class TooLarge(NotEnumerable):
    """There are too many runs to enumerate; smaller instances may still be enumerated."""


@dataclass(frozen=True)
class Case:
    """A target on one instance. Total variation above `bound`, the most that rounding can cause, is bias."""

    instance: Instance | Batch
    expected_accepted: fmpq | None  # E[tau] of the first round; None for a generation loop
    fault_mass: fmpq  # the probability of runs with a fault
    faults: dict[str, str]  # kind -> what happens
    total_variation: fmpq
    bound: fmpq
    wrong: Wrong | None  # None if the law is right
    unknown: str = ""  # why the law cannot be told from the target's, though it is known closely
    rounds: int = 1

    @cached_property
    def optimum(self) -> fmpq | None:
        """The largest E[tau] of any valid verifier, on a chain block verification's; None elsewhere."""
        one = isinstance(self.instance, Instance) and self.instance.draft.label == "chain"
        return best_stateless(self.instance).upper if one else None  # type: ignore[arg-type]

    @property
    def lossless(self) -> bool:
        """Whether the law is that of p."""
        return self.total_variation <= self.bound and self.fault_mass <= self.bound


Judge: TypeAlias = Callable[[Any], Case]
"""The exact verdict on an instance, or on a batch. Raises Fault if a call hangs, or NotEnumerable."""


def case(target: Target, sandbox: Sandbox, instance: Instance, rounds: int = 1, each: bool = False) -> Case:
    """The exact verdict on one instance, over one round of decoding or several.

    A verdict against the target stands only if `each` run has the same result with plain numbers. Where runs
    fail, the law is wrong if what the others emit comes too often, whatever the failed ones would have been.
    Raises Fault if a call hangs, TooLarge if there are too many runs, or NotEnumerable.
    """
    sandbox.off = 0.0
    tested, probes = sandbox.repeats and (target.slow or target.whole), SLOW_PROBES if target.slow else PROBES
    programs, deadline = target.programs(sandbox, instance, rounds), monotonic() + INSTANCE_SECONDS
    runs, faults, fault_mass = emit(programs, sandbox, deadline, tested, each, probes)
    means = [mass * tau for mass, (_, tau) in runs if tau is not None]
    accepted = sum(means, ZERO) if len(means) == len(runs) else None
    length, p = instance.draft.depth + rounds, instance.target
    unknown = ""
    got = Law((word, mass) for mass, (word, _) in runs).complete(p, length).marginal(length)
    want = law_of(p, length)
    variation, bound = got.total_variation(want), target.bound(instance, rounds)
    surplus = sum((max(got[word] - want[word], ZERO) for word in got), ZERO)
    off = dyadic(sandbox.off)  # the law is known within it
    if bound - off < variation <= bound + off:
        unknown = (
            f"its law is the target's within {float(variation + off):.2g}: an epsilon may move it by "
            f"{sandbox.off:.2g}, and rounding by {float(bound):.2g}"
        )
    bound += off
    whole = fault_mass <= bound
    biased = (variation if whole else surplus) > bound
    wrong = None
    if biased and whole:
        found = first_difference(got, want, bound)
        wrong = found and Wrong(*found)
    elif biased:
        often = max(got, key=lambda word: got[word] - want[word])
        wrong = Wrong(often, got[often], want[often])
    variation = variation if whole or wrong is None else surplus
    found = Case(instance, accepted, fault_mass, faults, variation, bound, wrong, unknown, rounds)
    if not found.lossless and not target.slow:
        for program in target.programs(sandbox, instance, rounds):
            must_repeat(program.run)  # coins that cannot be followed would look like bias
        if not each and not sandbox.bisected:
            again = case(target, sandbox, instance, rounds, each=True)
            if again.lossless and not sandbox.bisected:
                raise NotEnumerable(GONE)
            return again
    return found


def shrunk(judge: Judge, failing: Case, shrinks: bool) -> Case:
    """The case of the smallest instance found on which the target fails, or of the same instance run again.
    A wrong law stays one: calls that raise do not take its place. Raises NotEnumerable if nothing of the
    failure is left.
    """

    def fails(instance: Any) -> bool:
        try:
            found = judge(instance)
            return not found.lossless and (found.wrong is not None or failing.wrong is None)
        except (NotEnumerable, Fault, BadInput):
            return False

    failing = judge(shrink(failing.instance, fails, 1.0) if shrinks else failing.instance)
    if failing.lossless:
        raise NotEnumerable(GONE)
    return failing


def emit(
    programs: Iterable[Program],
    sandbox: Sandbox,
    deadline: float,
    tested: bool = False,
    each: bool = False,
    probes: int = PROBES,
) -> tuple[list[tuple[fmpq, tuple[Any, int | None]]], dict[str, str], fmpq]:
    """(probability, result) of every run of the programs, of which the first is seen to repeat if it is not
    `tested`; the faults of others, kind -> what happens, and their probability.
    """
    runs, faults, fault_mass = list[tuple[fmpq, Any]](), dict[str, str](), ZERO
    for program in programs:
        if not tested:
            must_repeat(program.run)
            tested = sandbox.repeats = True
        if program.most_runs is not None and not sandbox.bisected:
            with suppress(Opaque):  # its coins are then read by bisection
                _must_fit(program.run, probes, program.most_runs, program.what)
        for mass, result in runs_of(program, deadline, sandbox, each):
            if isinstance(result, Fault):
                fault_mass += mass
                drafted = "" if program.drafted is None else f" (drafted {program.drafted})"
                faults.setdefault(result.kind, result.what + drafted)
            else:
                runs.append((mass, result))
    return runs, faults, fault_mass


def runs_of(
    program: Program, deadline: float, sandbox: Sandbox, each: bool = False
) -> Iterator[tuple[fmpq, tuple[Any, int | None] | Fault]]:
    """(weight, result or fault) of every outcome of the coins; by bisection if plain numbers are needed."""
    if not sandbox.bisected:
        try:
            yield from list(every_run(program, deadline, sandbox, each))
            return
        except Opaque:
            sandbox.bisected = True
    deadline = min(deadline, monotonic() + BISECTION_SECONDS)

    def run(source: Source) -> tuple[Any, int | None] | Fault:
        if monotonic() > deadline:
            raise TooLarge("reading its coins by bisection takes too long")
        return run_or_fault(program.run, source)

    for mass, result, *_ in law_by_boxes(run, program.weight):
        yield mass, result


def every_run(
    program: Program, deadline: float, sandbox: Sandbox, each: bool
) -> Iterator[tuple[fmpq, tuple[Any, int | None] | Fault]]:
    """(weight, result or fault) of every sequence of outcomes of a program's random calls.

    Every run with a fault, and of the others each or some, is made again with plain numbers as coins. Raises
    Opaque if the result is then another one: the coins were not followed.
    """
    for n, (mass, (source, result)) in enumerate(followed(program)):
        if n >= INSTANCE_RUNS or monotonic() > deadline:
            raise TooLarge(f"its coins have more than {n:,} outcomes")
        sandbox.runs += 1
        sandbox.off = max(sandbox.off, sum(source.state.off.values()))
        often = sandbox.runs % (1 if each and n < FIRST_CHECKED else CHECKED_EVERY) == 0
        if source.state.seeds and n < SEEDED:
            _must_not_depend(program, source, result, sandbox)
        if often or source.state.seeds or (isinstance(result, Fault) and n < FIRST_CHECKED):
            _must_recur(program, source, result, sandbox)
        yield mass, result


def followed(program: Program) -> Iterator[tuple[fmpq, tuple[Every, Any]]]:
    """(weight, (source, result or fault)) of every sequence of outcomes."""

    def run(oracle: Any) -> tuple[Every, Any]:
        source = Every(oracle)
        result = run_or_fault(program.run, source)
        source.state.ended = True
        return source, result

    return outcomes(run, program.weight)


def _must_recur(program: Program, source: Every, result: object, sandbox: Sandbox) -> None:
    def plain(seed: int) -> object:
        replay = source.replay(Random(seed))
        return result if replay is None else run_or_fault(program.run, replay)

    found = plain(sandbox.runs)
    if _same(found, result):
        return
    if not _same(plain(sandbox.runs), found):
        raise NotEnumerable(HIDDEN)
    if not _same(plain(-sandbox.runs), result):
        raise Opaque("its result with plain numbers as coins is another one")


def _must_not_depend(program: Program, source: Every, result: object, sandbox: Sandbox) -> None:
    # Of integers that became plain numbers; one value may meet an edge by rounding.
    random = Random(sandbox.runs)
    replays = [source.replay(random) for _ in range(VALUES)]
    others = [each for each in replays if each and not _same(run_or_fault(program.run, each), result)]
    if len(others) > 1:
        raise Opaque("its result depends on the value of an integer that it draws")


def _same(a: object, b: object) -> bool:
    return getattr(a, "kind", a) == getattr(b, "kind", b)  # of faults


def run_or_fault(program: Callable[[Source], Any], source: Source) -> Any:
    """The result of one run, or the fault that ended it. The fault of a call that hangs is raised."""
    try:
        return program(source)
    except Fault as fault:
        if fault.kind == "hangs":
            raise
        return fault


def must_repeat(program: Callable[[Source], object]) -> None:
    """Raises NotEnumerable if the same coins can give different results: other random numbers are used."""

    def result(coin: float) -> object:
        found = run_or_fault(program, Fixed([coin]))
        return str(found) if isinstance(found, Fault) else found

    for coin in (0.5, 0.9, 0.1):
        if len({result(coin) for _ in range(8)}) > 1:
            raise NotEnumerable(HIDDEN)


def _must_fit(program: Callable[[Source], object], probes: int, limit: int, what: str) -> None:
    # TooLarge if there are more runs than the limit, by the mean of random descents.
    random, leaves = Random(0), 0
    for _ in range(probes):
        oracle = Descent(random)
        run_or_fault(program, Every(oracle))
        leaves += oracle.leaves
    if leaves > limit * probes:
        raise TooLarge(f"{what} would take about {leaves / probes:,.0f} runs, and at most {limit:,} are made")
