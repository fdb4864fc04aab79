"""The standard suite, which `draftproof check` runs without an argument."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Texts, corpus
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import located
from draftproof.theory.instance import Instance

PAIR, TRIPLE, BINARY = every(2, 1), every(3, 1), every(2, 2)
FORK: Shape = (PAIR,)
LOPSIDED: Shape = (PAIR, ())
UNEVEN: Shape = (((),), (), ())
TWO_PATHS: Shape = (((),), ((),))
GROUPS: Shape = ((((),), ()), ((),))
"""Two nodes whose draws have 6 and 3 outcomes at V = 3: too many for `layered` to plan together, so that
one node takes its turn after the other."""

SOURCE = Path(argparse.__file__)
"""A text that every Python installation has: a source file of the standard library."""


def shallow() -> list[Scheme]:
    """Drafts of depth 1 with several children."""
    trees = [Tree(shape, replacement) for shape in (PAIR, TRIPLE) for replacement in (False, True)]
    strata = [Stratified(PAIR), Stratified(TRIPLE)]
    return [*trees, *strata, Paths(2, 1), Paths(3, 1), TopK(PAIR), Greedy(PAIR), Greedy(TRIPLE), SpecHub(1)]


def deep(vocab: int) -> list[Scheme]:
    """Drafts of depth 2 with several children; those with most outcomes only for two symbols."""
    shapes = (FORK, LOPSIDED, TWO_PATHS, BINARY)
    trees: list[Scheme] = [kind(shape) for kind in (Tree, Stratified) for shape in shapes]
    trees += [Tree(shape, replacement=True) for shape in (shapes if vocab == 2 else shapes[:3])]
    return [*trees, BestFirst(4, 2), Paths(2, 2), TopK(BINARY), Greedy(BINARY), SpecHub(2)]


def of_depth(depth: int) -> list[Scheme]:
    """One draft of every kind, so that each verifier is made for at least one."""
    two_wide = every(2, depth)
    trees = [Tree(two_wide, replacement) for replacement in (False, True)] if depth <= 2 else []
    strata = [Stratified(two_wide)] if depth <= 2 else []
    return [Chain(depth), *trees, Paths(2, depth), TopK(two_wide), Greedy(two_wide), SpecHub(depth), *strata]


def standard() -> list[Sequence[Instance]]:
    """The families of the standard suite, costly instances first."""
    chains = [Chain(1), Chain(2), Chain(3)]
    families: list[Sequence[Instance]] = []
    families += [Texts(corpus(SOURCE, 3, histories=1), draft) for draft in of_depth(2)]
    families += [Texts(corpus(SOURCE, 3), Chain(2))]
    families += [Randoms(draft, 3, 12) for draft in deep(3)]
    families += [Scenarios(draft, vocab) for vocab in (3, 2) for draft in (*deep(vocab), *shallow(), *chains)]
    families += [Randoms(Tree(GROUPS), 3, 4)]
    families += [Randoms(Chain(3), 3, 8), Randoms(Chain(3), 2, 40)]
    families += [
        Randoms(draft, vocab, size)
        for vocab, size in ((4, 12), (3, 40), (2, 40))
        for draft in (*shallow(), *chains[:2])
    ]
    families += [Grid(Chain(2), 2, 2), Grid(Chain(2), 2, 3)]
    families += [Grid(draft, 2, 2) for draft in deep(3)]
    families += [Grid(draft, vocab, size) for vocab, size in ((2, 12), (3, 3)) for draft in shallow()]
    families += [Grid(draft, 4, 4) for draft in (TopK(PAIR), Greedy(PAIR), Greedy(TRIPLE), SpecHub(1))]
    families += [Grid(Chain(1), vocab, size) for vocab, size in ((2, 16), (3, 5), (4, 3))]
    families += [Grid(Chain(1), vocab, size) for vocab, size in ((2, 48), (3, 9), (4, 5))]
    return families


def measured() -> list[Sequence[Instance]]:
    """The families on which rules are judged against declared targets: scenarios and random rows."""
    sizes = ((2, 1, 40), (3, 1, 40), (4, 1, 40), (2, 2, 40), (3, 2, 40), (2, 3, 20))
    families: list[Sequence[Instance]] = []
    for vocab, depth, size in sizes:
        families += [Scenarios(Chain(depth), vocab), Randoms(Chain(depth), vocab, size)]
    return [*families, Scenarios(TopK(BINARY), 3), Randoms(TopK(BINARY), 3, 40)]


def from_text(path: Path, vocab: int, depth: int) -> list[Sequence[Instance]]:
    """The families of a text file, every kind of draft of one depth; BadInput if too large to enumerate."""
    read = corpus(path, vocab)
    with located(f"{path}: --vocab {vocab} and --depth {depth}"):
        families = [Texts(read, draft) for draft in of_depth(depth)]
        _ = [family[0] for family in families]  # raises BadInput for what cannot be enumerated
    return list(families)
