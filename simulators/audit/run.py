"""The exact law of what a foreign function emits on one instance."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from flint import fmpq

from simulators.audit.coins import law_by_boxes
from simulators.audit.door import Fault, Watch
from simulators.audit.sources import Every, Fixed, Source
from simulators.audit.targets import ROUNDOFF, Target
from simulators.audit.world import NotEnumerable, Opaque
from simulators.enumerate import emission, outcomes
from simulators.verdict import Wrong
from theory.draft import Draft, Node
from theory.instance import Instance
from theory.law import Law, law_of
from theory.numbers import ONE, ZERO
from theory.rows import Number, Prefix, Row
from theory.verifiers import named

ROUNDINGS = 16
"""Roundings that one probability at one position is granted beside the V of a sum over the row."""

RUNS, SECONDS = 400_000, 600.0
"""Most runs of a function on one instance, and the longest they may take together."""

Result = TypeVar("Result")


@dataclass
class Emitted:
    """The law of the words, the mass of runs that went wrong, and how: kind -> what happened."""

    law: Law
    lost: fmpq
    faults: dict[str, str]
    accepted: fmpq = ZERO


@dataclass(frozen=True)
class Case:
    """A target on one instance.

    `bound` is the floor of its arithmetic: total variation at or below it is rounding, above it
    is bias. `optimum` is the largest E[tau] of any valid verifier, None where it is not known.
    """

    instance: Instance
    emitted: "Emitted"
    total_variation: fmpq
    bound: fmpq
    expected_accepted: fmpq
    optimum: fmpq | None
    wrong: Wrong | None

    @property
    def lossless(self) -> bool:
        return self.total_variation <= self.bound and self.emitted.lost <= self.bound


def floor(dtype: str, vocab: int, depth: int, iterations: int = 1) -> fmpq:
    """A bound on the total variation that rounding alone can cause.

    Each emitted word's probability is a product over at most depth + 1 positions, each known up to
    a relative error of (V + ROUNDINGS) u: V - 1 additions in a sum over the row, and a few more
    operations; u is the unit roundoff, with which the given rows are rounded as well. Summed over
    words, relative errors become total variation.

    >>> float(floor("float64", 3, 2)) < 1e-14
    True
    """
    unit = fmpq(*ROUNDOFF[dtype].as_integer_ratio())
    return unit * (depth + 1) * iterations * (vocab + ROUNDINGS)


def drafts(instance: Instance) -> Iterator[tuple[fmpq, Draft]]:
    """Every draft of the instance, with its probability."""
    return outcomes(lambda oracle: instance.draft.draw(oracle, instance.proposal))


def every_run(
    program: Callable[[Source], Result], weight: fmpq, deadline: float
) -> Iterator[tuple[fmpq, Result | Fault]]:
    """(weight, result or fault) of every way that the random calls of a program can fall."""

    runs = outcomes(lambda oracle: _or_fault(program, Every(oracle)), weight)
    for n, found in enumerate(runs):
        if n >= RUNS or monotonic() > deadline:
            raise NotEnumerable("there are too many ways its coins can fall")
        yield found


def _or_fault(program: Callable[[Source], Result], source: Source) -> Result | Fault:
    try:
        return program(source)
    except Fault as fault:
        if fault.kind == "hangs":
            raise
        return fault


def emit(target: Target, watch: Watch, instance: Instance, seconds: float = SECONDS) -> "Emitted":
    """All that a target emits on one instance; raises Fault when it hangs, or NotEnumerable."""
    words: list[tuple[Prefix, fmpq]] = []
    found = Emitted(Law({}), ZERO, {})
    deadline = monotonic() + seconds
    for weight, draft in drafts(instance):
        prepared = target.prepare(instance.target, draft)

        def once(source: Source, prepared: object = prepared) -> Prefix:
            target.fresh()
            return target.call(watch, source, prepared, 0)

        if not words and not found.faults:
            _must_repeat(once)
        for mass, word in _runs(once, weight, deadline, watch):
            if isinstance(word, Fault):
                found.lost += mass
                found.faults.setdefault(word.kind, f"{word.what} (drafted {bare(draft)})")
            else:
                words.append((word, mass))
    found.law = Law(words)
    return found


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
            raise NotEnumerable("reading its coins by bisection takes too long")
        return _or_fault(once, source)

    yield from law_by_boxes(careful, weight)


def emit_rounds(
    target: Target, watch: Watch, instance: Instance, rounds: int, seconds: float = SECONDS
) -> Emitted:
    """The law of the first depth + rounds tokens, from as many rounds of draft, verify, emit as it takes.

    What it keeps between calls, and coins that it uses again, is followed through all rounds. A
    target whose object has a method `draft(row, rng, position)` drafts its tokens itself.
    """

    length = instance.draft.depth + rounds

    def decode(source: Source) -> tuple[Prefix, int]:
        target.fresh()
        context: Prefix = ()
        first = 0
        while len(context) < length:
            draft = _drawn(target, watch, instance, context, source)
            word = target.call(watch, source, target.prepare(instance.target, draft), len(context))
            context += word
            first = first or len(word)
        return context, first

    found = Emitted(Law({}), ZERO, {})
    words: list[tuple[Prefix, fmpq]] = []
    for mass, result in every_run(decode, ONE, monotonic() + seconds):
        if isinstance(result, Fault):
            found.lost += mass
            found.faults.setdefault(result.kind, result.what)
        else:
            word, first = result
            words.append((word[:length], mass))
            found.accepted += mass * (first - 1)
    found.law = Law(words)
    return found


def _drawn(target: Target, watch: Watch, instance: Instance, context: Prefix, source: Source) -> Draft:
    if not getattr(target, "drafts", False):
        return instance.draft.draw(_Drafting(source), instance.proposal, context)
    prefix, above = context, []
    for at in range(instance.draft.depth):
        q = instance.proposal[prefix]
        token = target.draw(watch, source, tuple(map(float, q)), len(context) + at)  # type: ignore[attr-defined]
        above.append((prefix, q))
        prefix = (*prefix, token)
    node = Node(prefix, None)
    for prefix, q in reversed(above):
        node = Node(prefix, q, (node,))
    return Draft(node)


class _Drafting:
    def __init__(self, source: Source):
        self.source = source

    def choose(self, row: Row) -> int:
        world = getattr(self.source, "world", None)
        return world.choose(row) if world else self.source.choose([float(x) for x in row])

    def accept(self, probability: Number) -> bool:
        return bool(self.choose((1 - probability, probability)))


def _must_repeat(once: Callable[[Source], Prefix]) -> None:
    # With the same coins it must do the same, or it has coins that nobody answers here.
    def told(coin: float) -> Prefix | str:
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


def case(target: Target, watch: Watch, instance: Instance, rounds: int = 1) -> Case:
    """The exact verdict on one instance, over one round of decoding or several."""
    if rounds > 1 or getattr(target, "drafts", False):
        found = emit_rounds(target, watch, instance, rounds)
    else:
        found = emit(target, watch, instance)
    law, depth = found.law, instance.draft.depth
    got, want = (
        law.complete(instance.target, depth + rounds).marginal(depth + rounds),
        wanted(instance, rounds),
    )
    variation, bound = got.total_variation(want), floor(target.dtype, instance.vocab, depth, rounds)
    accepted = found.accepted if rounds > 1 else law.expectation(len) - law.total
    wrong = first_wrong(got, want, bound) if variation > bound and found.lost <= bound else None
    return Case(instance, found, variation, bound, accepted, optimum(instance), wrong)


def first_wrong(got: Law, want: Law, bound: fmpq) -> Wrong | None:
    """The shortest prefix whose probability is off by more than rounding; else the worst word."""
    off: dict[Prefix, fmpq] = {}
    for length in range(1, max(map(len, want)) + 1):
        a, b = got.marginal(length), want.marginal(length)
        off = {prefix: abs(a[prefix] - b[prefix]) for prefix in a.keys() | b.keys()}
        for prefix in sorted(off):
            if off[prefix] > bound / 2:
                return Wrong(prefix, a[prefix], b[prefix])
    worst = max(off, key=lambda word: (off[word], word))
    return Wrong(worst, a[worst], b[worst])


def optimum(instance: Instance) -> fmpq | None:
    """On a chain the E[tau] of block verification, which no valid verifier exceeds."""
    if instance.draft.label != "chain":
        return None
    return emission(instance, named("block")).expected_accepted


def wanted(instance: Instance, rounds: int = 1) -> Law:
    """The target's own law of the tokens that a verdict is about."""
    return law_of(instance.target, instance.draft.depth + rounds)
