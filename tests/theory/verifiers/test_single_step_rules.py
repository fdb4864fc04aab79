"""The optimal single-step rules and gls: lossless by enumeration, and as good as they claim."""

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.numbers import ZERO
from draftproof.theory.transport.single_step import alpha
from draftproof.theory.verifiers import named

NAMES = ("optimal-transport", "khisti", "global-resolution", "gls")
DRAFTS: list[Scheme] = [
    Chain(2),
    Tree(((), (), ()), True),
    Tree((((), ()), ()), True),
    Tree((((), ()), ()), False),
    Tree((((),), ((),)), False),
    Paths(2, 2),
    Paths(3, 1),
]
SINGLE: list[tuple[Scheme, int, bool]] = [
    (Chain(1), 1, True),
    (Tree(((), ()), True), 2, True),
    (Tree(((), ()), False), 2, False),
    (Tree(((), (), ()), True), 3, True),
    (Tree(((), (), ()), False), 3, False),
    (Paths(2, 1), 2, True),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_lossless(name: str, draft: Scheme) -> None:
    verifier = named(name)
    if draft.label not in verifier.drafts:
        pytest.skip("not made for this draft")
    for vocab in (2, 3):
        for instance in Randoms(draft, vocab, 5, seed=14):
            emitted = emission(instance, verifier)
            assert emitted.wrong_prefix() is None
            assert emitted.total_variation == ZERO


@pytest.mark.parametrize(("draft", "k", "replacement"), SINGLE, ids=str)
def test_acceptance_is_alpha(draft: Scheme, k: int, replacement: bool) -> None:
    for instance in Randoms(draft, 3, 12, seed=15):
        best, _ = alpha(instance.target[()], instance.proposal[()], k, replacement)
        assert accepted(instance, "optimal-transport") == best == accepted(instance, "khisti")
        if replacement:
            short = best - accepted(instance, "global-resolution")
            assert short >= ZERO
            assert float(short) <= 1e-6
            assert accepted(instance, "gls") <= best


@pytest.mark.parametrize("name", NAMES)
def test_extremes(name: str) -> None:
    pair = Tree(((), ()), True)
    assert accepted(context_free([1, 0], [0, 1], pair), name) == ZERO
    equal = context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(2))
    # the grid of its weights costs global-resolution nothing either: one draft leaves no choice
    assert accepted(equal, name) == 2


def test_looking_at_paths_does_not_make_a_tree_of_paths() -> None:
    q = (fmpq(1, 2), fmpq(1, 2))
    tree = Draft(Node((), q, (Node((0,), None), Node((1,), None))))
    assert (tree.merged, len(tree.paths), tree.merged) == (False, 2, False)
    assert tree.drawn(tree.root) == (0, 1)
    leaf = Node((0,), None)
    root = Node((), q, (leaf,))
    paths = Draft(root, paths=((root, leaf), (root, leaf)))
    assert paths.merged
    assert paths.drawn(root) == (0, 0)
    assert paths.drawn(leaf) == ()


def accepted(instance: Instance, name: str):
    return emission(instance, named(name)).expected_accepted
