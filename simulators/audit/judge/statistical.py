"""What cannot be enumerated: an anytime-valid test on the joint law of several tokens."""

from dataclasses import dataclass
from time import monotonic
from typing import Protocol

import numpy as np
from flint import fmpq

from draftproof.simulators.anytime import ERROR, Process
from draftproof.simulators.audit.door import Fault, Watch
from draftproof.simulators.audit.judge.case import optimum
from draftproof.simulators.audit.randomness.sources import Chance
from draftproof.simulators.audit.targets.target import Target
from draftproof.theory.draft import Draft
from draftproof.theory.instance import Instance
from draftproof.theory.law import law_of
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

RUNS, SECONDS = 20_000, 60.0
"""Default number of runs, and the longest they may take."""


class Population(Protocol):
    """What a target is run on: drafts at random, and the law that its words are tested against.

    A word is depth + 1 tokens; `seen` names what of it the test looks at, and the probability that
    the target's own law gives this. There are `outcomes` such names.
    """

    @property
    def name(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def outcomes(self) -> int: ...
    @property
    def target(self) -> Rows: ...
    @property
    def tokens(self) -> bool: ...  # outcomes are words of tokens
    @property
    def optimum(self) -> fmpq | float | None: ...  # the largest E[tau] of any valid verifier

    def draw(self, chance: Chance) -> Draft: ...
    def next(self, chance: Chance, prefix: Prefix) -> int: ...
    def seen(self, word: Prefix) -> tuple[tuple[int, ...], float]: ...


@dataclass(frozen=True)
class Sampled:
    """What some runs showed.

    `total_variation` is that of the counts, which is above that of the law by chance;
    `detectable` is what so many runs would have shown. `likeliest` is the outcome that came most
    above its probability: (outcome, its share of the runs, its probability).
    """

    on: str
    rejected: bool
    log_e: float
    error: float
    runs: int
    outcomes: int
    detectable: float
    total_variation: float
    expected_accepted: float
    optimum: fmpq | float | None
    likeliest: tuple[tuple[int, ...], float, float]
    tokens: bool
    faults: dict[str, str]

    def __str__(self) -> str:
        said = "rejected" if self.rejected else "not rejected"
        return (
            f"{said} after {self.runs:,} runs at error level {self.error:.3g} (log e-value {self.log_e:.1f}, "
            f"{self.outcomes:,} outcomes, {self.on}); "
            f"a total variation of {self.detectable:.2g} would have shown"
        )


class Small:
    """A population of all words of a small instance."""

    def __init__(self, instance: Instance):
        self.instance, self.name, self.depth = instance, instance.name, instance.draft.depth
        self.target = instance.target
        self.tokens, self.optimum = True, optimum(instance)
        self.law = law_of(instance.target, self.depth + 1)
        self.outcomes = len(self.law)

    def draw(self, chance: Chance) -> Draft:
        return self.instance.draft.draw(chance, self.instance.proposal)

    def next(self, chance: Chance, prefix: Prefix) -> int:
        return chance.choose(self.target[prefix])

    def seen(self, word: Prefix) -> tuple[tuple[int, ...], float]:
        return word, float(self.law[word])


def sampled(
    target: Target,
    watch: Watch,
    population: Population,
    runs: int = RUNS,
    error: float = ERROR,
    seconds: float = SECONDS,
    seed: int = 0,
    native: bool = False,
) -> Sampled:
    """Runs a target at random until the test rejects, the runs are done, or the time is.

    What it emits is continued by the target's own law to depth + 1 tokens. A fault has probability
    zero under the law, and so rejects. With `native` it is given real generators.
    Raises Fault when a call hangs.
    """
    chance, deadline = Chance(np.random.Generator(np.random.PCG64(seed)), native), monotonic() + seconds
    process, wanted = Process(population.outcomes, error), dict[tuple[int, ...], float]()
    faults: dict[str, str] = {}
    accepted = 0
    while process.runs < runs and not process.rejected and monotonic() < deadline:
        try:
            word = _emitted(target, watch, population, chance)
        except Fault as fault:
            if fault.kind == "hangs":
                raise
            faults[fault.kind] = f"{fault.what}, on {population.name}"
            process.saw(fault.kind, 0.0)
            continue
        accepted += len(word) - 1
        while len(word) <= population.depth:
            word = (*word, population.next(chance, word))
        outcome, wanted[outcome] = population.seen(word)
        process.saw(outcome, wanted[outcome])
    n = max(process.runs, 1)
    excess = {outcome: process.counts[outcome] / n - mass for outcome, mass in wanted.items()}
    worst = max(excess, key=excess.__getitem__, default=())
    return Sampled(
        population.name,
        process.rejected,
        process.most,
        error,
        process.runs,
        population.outcomes,
        process.detectable,
        1.0 if faults else sum(max(each, 0.0) for each in excess.values()),
        accepted / n,
        population.optimum,
        (worst, process.counts[worst] / n, wanted.get(worst, 0.0)),
        population.tokens,
        faults,
    )


def _emitted(target: Target, watch: Watch, population: Population, chance: Chance) -> Prefix:
    target.fresh()
    chance.keyed.clear()
    draft = population.draw(chance)
    return target.call(watch, chance, target.prepare(population.target, draft), 0)
