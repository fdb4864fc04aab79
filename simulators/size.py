"""How long an exact enumeration will take, estimated before it begins."""

from dataclasses import dataclass
from random import Random
from time import monotonic

from draftproof.simulators.enumerate import CRASHES, Invalid, deepen
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import WORDS
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

PROBES, SECONDS = 30, 0.2  # most random runs of one estimate, and about the time that they may take
RUNS = 10**9
"""Largest number of runs that are begun."""

LONG = 10.0  # seconds from which on a duration is told


class Descent:
    """The oracle that answers at random and multiplies the numbers of branches on its way. On average over
    descents the product is the number of leaves, that is of runs (Knuth's estimate).
    """

    def __init__(self, random: Random):
        self.random, self.leaves = random, 1

    def choose(self, row: Row) -> int:
        branches = [x for x, mass in enumerate(row) if mass > 0]
        self.leaves *= len(branches)
        return self.random.choice(branches)

    def accept(self, probability: Number) -> bool:
        return bool(self.choose((1 - probability, probability)))


@dataclass(frozen=True)
class Size:
    """The estimated number of runs of one verifier on one instance, and the seconds that they take."""

    verifier: str
    runs: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.verifier} about {self.runs:,.0f} runs, {_duration(self.seconds)}"


def size(instance: Instance, verifier: Verifier, iterations: int = 1) -> Size:
    """The size of an exact enumeration. Raises BadInput if it has more than RUNS runs, or if the joint law
    that it is compared with has more than WORDS words.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> round(size(scenario("uniform target", Chain(1)), named("token")).runs)
    3
    """
    joint = iterations > 1 or verifier.carry is not None
    iterations = max(iterations, 2) if joint else 1
    deepen(instance.draft)
    random, began, probes, runs = Random(0), monotonic(), 0, 0.0
    while probes < PROBES and (not probes or monotonic() - began < SECONDS):
        runs += _descended(instance, verifier, iterations, random)
        probes += 1
    each, runs = (monotonic() - began) / probes, runs / probes
    if runs > RUNS:
        raise BadInput(
            f"{instance.name}: {verifier.name} has about {runs:.1e} runs, and the most are {RUNS:.0e}"
        )
    if joint:
        words = _words(instance.target, instance.draft.depth + iterations, random)
        if words > WORDS:
            length = instance.draft.depth + iterations
            raise BadInput(
                f"{instance.name}: {verifier.name} keeps state and needs the joint law of {length} tokens, "
                f"which has about {words:.1e} words; the most are {WORDS:,}"
            )
    return Size(verifier.name, runs, runs * each)


def announcement(sizes: list[Size]) -> str:
    """A line that announces enumerations that take long and names the three longest; empty if none does."""
    seconds = sum(each.seconds for each in sizes)
    longest = sorted(sizes, key=lambda each: -each.seconds)[:3]
    return f"takes {_duration(seconds)}: {'; '.join(map(str, longest))}" if seconds > LONG else ""


def _descended(instance: Instance, verifier: Verifier, iterations: int, random: Random) -> float:
    # The estimate of one descent.
    oracle, target, context = Descent(random), instance.target, ()
    rows: Rows = target
    for _ in range(iterations):
        draft = instance.draft.draw(oracle, instance.proposal, context)
        try:
            node, row = verifier.verify(oracle, draft, rows)
            if iterations > 1:
                context = (*node.prefix, oracle.choose(row))
        except (Invalid, *CRASHES):  # which the enumeration will find too
            return oracle.leaves
        if verifier.carry is not None:
            rows = verifier.carry(rows, instance.proposal, draft, node)
    return oracle.leaves


def _words(target: Rows, length: int, random: Random) -> float:
    # About how many words of this length the target can emit.
    total = 0
    for _ in range(PROBES):
        oracle, word = Descent(random), Prefix()
        for _ in range(length):
            word = (*word, oracle.choose(target[word]))
        total += oracle.leaves
    return total / PROBES


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds > 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {max(seconds, 1):.0f} s"
