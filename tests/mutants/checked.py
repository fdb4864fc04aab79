"""Exact enumeration that refuses more than a wrong law: a coin outside [0, 1], a row that is no law, a
program that raises or does not stop. It also tells whether two verifiers decide alike.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.draft import Draft
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop, Verifier
from tests.mutants.guard import Refused

PAIR, THREE, DEEP, UNEVEN = ((), ()), ((), (), ()), (((), ()),), (((),), ())
SHAPES = PAIR, THREE, UNEVEN, DEEP, (((), ()), ()), (((),), ((),))
WIDE = Tree(((((),), ()), (((),), ())))
"""A tree whose second level `layered` plans in two groups."""
SMALL: dict[str, tuple[tuple[Scheme, int], ...]] = {
    "chain": tuple((Chain(depth), vocab) for depth in (1, 2, 3) for vocab in (2, 3)),
    "tree with replacement": tuple((Tree(shape, True), 3 - (shape is SHAPES[-1])) for shape in SHAPES),
    "tree without replacement": (*((Tree(shape), 3) for shape in SHAPES), (Tree(PAIR), 2), (Tree(THREE), 4)),
    "paths": tuple(
        (Paths(*size), vocab) for size, vocab in (((2, 1), 3), ((2, 2), 2), ((2, 2), 3), ((3, 2), 2))
    ),
    "top-k": ((TopK(PAIR), 3), (TopK(UNEVEN), 3)),
    "greedy": ((Greedy(PAIR), 3), (Greedy(UNEVEN), 3)),
    "spechub": ((SpecHub(1), 3), (SpecHub(2), 3)),
    "stratified": ((Stratified(PAIR), 3), (Stratified(UNEVEN), 3)),
}
"""Label of a drafting scheme -> drafts and vocabularies to judge on, smaller ones first."""
RANDOM = 6
"""Random instances for each small draft, their rows different after every context, zeros among them."""


Run: TypeAlias = tuple[tuple, tuple, Any, tuple, Row]
"""The draft, the coins tossed and rows drawn from, the run's probability, the stop, and the row of Y."""


class Checked:
    """The oracle behind which a verifier is run: it refuses what is no coin and no law."""

    def __init__(self, oracle: Oracle):
        self.oracle, self.asked, self.weight = oracle, [], ONE

    def accept(self, probability: Number) -> bool:
        if not (probability >= 0 and probability <= 1):
            raise Refused(f"a coin of {probability}")
        answer = self.oracle.accept(probability)
        self.asked.append((probability, answer))
        self.weight = self.weight * (probability if answer else 1 - probability)
        return answer

    def choose(self, row: Row) -> int:
        law(row)
        x = self.oracle.choose(row)
        self.asked.append((tuple(row), x))
        self.weight = self.weight * row[x]
        return x


def law(row: Row) -> None:
    """Refuses a row that is no law."""
    if not all(mass >= 0 for mass in row):
        raise Refused(f"a row with the mass {min(row)}")
    if sum(row) != 1:
        raise Refused(f"a row of mass {sum(row)}")


def verify(verifier: Verifier, runs: list[Run], oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The verifier's own `verify`, checked, and kept in `runs`."""
    checked = Checked(oracle)
    node, row = verifier.verify(checked, draft, target)
    if len(row) != target.vocab:
        raise Refused(f"a row of {len(row)} tokens")
    law(row)
    drafted = tuple(each.prefix for each in draft.root), tuple(path[-1].prefix for path in draft.paths)
    runs.append((drafted, tuple(checked.asked), checked.weight, node.prefix, tuple(row)))
    return node, row


verify.__module__ = (
    "draftproof.checked"  # edits of the project's own rules: runs are not repeated as a user's
)


def flaw(verifier: Verifier, instance: Instance, runs: list[Run] | None = None) -> str | None:
    """What exact enumeration refutes the verifier with on the instance, or None.

    A draft of depth 1 is judged over two iterations as well: the second starts after a context.
    """
    runs = [] if runs is None else runs
    checked = replace(verifier, verify=partial(verify, verifier, runs))
    try:
        verdict = judge(instance, checked)
        if verdict.lossless and instance.draft.depth == 1:
            verdict = judge(instance, checked, 2)
    except Refused as error:
        return str(error)
    except BadInput as error:  # a rule that is none of the project's is refused in one line
        return str(error).partition("Refused: ")[2] or "raises BadInput"
    except Exception as error:  # a mutant may break in any way
        return f"raises {type(error).__name__}"
    if verdict.invalid:
        return verdict.invalid
    if verdict.wrong is None:
        return None
    prefix = " ".join(map(str, verdict.wrong.prefix))
    return f"the law: {verdict.wrong.got} for {verdict.wrong.want} at {prefix}"


@cache
def battery(label: str) -> tuple[Instance, ...]:
    """The instances of one drafting scheme."""
    wide = [_wide()] if label == WIDE.label else []
    return *(instance for draft, vocab in SMALL[label] for instance in _instances(draft, vocab)), *wide


def _wide() -> Instance:
    # Its proposal has two tokens at the root and one at depth 2, which leaves 72 drafts.
    target = lambda prefix: weighted([2 + len(prefix), 1 + sum(prefix), 3])  # noqa: E731
    proposal = lambda prefix: weighted(([3, 2, 0], [1, 2, 2], [1, 0, 0])[len(prefix)])  # noqa: E731
    return tabulate(3, WIDE, target, proposal, "two groups of a level, V=3")


def _instances(draft: Scheme, vocab: int) -> Iterator[Instance]:
    yield from (scenario(name, draft, vocab) for name in SCENARIOS)
    yield from Randoms(draft, vocab, RANDOM, seed=2)


def instances(verifier: Verifier) -> Iterator[Instance]:
    """All instances of the drafts that the verifier is made for."""
    for label in verifier.drafts:
        yield from battery(label)


def examined(original: Verifier, mutant: Verifier) -> tuple[str, str]:
    """(flaw, name) of the first instance that refutes the mutant; else ("", how alike it decides).

    "the same runs": every coin, every row and every stop is the original's in every run. "the same law given
    each draft": the law of the stop and of Y is. "lossless": the mutant is another rule.
    """
    runs: list[list[Run]] = []
    for instance in instances(original):
        runs.append([])
        if found := flaw(mutant, instance, runs[-1]):
            return found, instance.name
    originals = runs_of(original)
    if runs == originals:
        return "", "the same runs"
    if [*map(given_draft, runs)] == [*map(given_draft, originals)]:
        return "", "the same law given each draft"
    return "", "lossless"


@lru_cache(maxsize=1)
def runs_of(original: Verifier) -> list[list[Run]]:
    """All runs of a lossless verifier, instance by instance."""
    runs: list[list[Run]] = []
    for instance in instances(original):
        runs.append([])
        assert flaw(original, instance, runs[-1]) is None, instance.name
    return runs


def given_draft(runs: list[Run]) -> dict[tuple, Any]:
    """(draft, stop, Y) -> probability given the draft."""
    masses: dict[tuple, Any] = {}
    for draft, _, weight, stop, row in runs:
        for x, mass in enumerate(row):
            if mass > 0:
                key = draft, stop, x
                masses[key] = masses.get(key, 0) + weight * mass
    return masses
