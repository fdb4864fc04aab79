"""The instances that the explorer holds: one of each kind of draft, some from the results, some given."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from draftproof.simulators.instances.files import read
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.report.explorer.record import explorable
from draftproof.simulators.report.read import Store
from draftproof.simulators.report.worst import worst_instances
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

PAIR = ((), ())
FORK = (((),), ())

STANDARD = (
    (Chain(2), 2, "a chain of two tokens"),
    (Chain(1), 2, "a chain of one token"),
    (Tree(PAIR), 3, "two siblings without replacement"),
    (Tree(PAIR, replacement=True), 3, "two siblings with replacement"),
    (Tree(FORK), 2, "a tree of depth 2"),
    (Paths(2, 1), 3, "two paths of one token"),
    (Greedy(PAIR), 3, "the greedy draft: the likeliest token and a sample"),
    (SpecHub(1), 3, "the SpecHub pair"),
    (TopK(PAIR), 3, "the two likeliest tokens"),
)
"""Every verifier is made for one of these drafts."""

WORST = 2
"""Most instances that are taken from the results."""


def explored(store: Store, given: Sequence[Path]) -> Iterator[tuple[str, Instance]]:
    """(title, instance) in the order of the choice; BadInput for one that is given and too large."""
    for path in given:
        instance = read(path)
        if not explorable(instance):
            raise BadInput(f"{path}: too large to explore")
        yield str(path), instance
    for draft, vocab, said in STANDARD:
        yield f"{said}, V = {vocab}", scenario("toy", draft, vocab)
    for verifier, instance in worst_instances(store, WORST):
        yield f"furthest below the optimum in these results: {verifier}", instance
