"""Layered transport: lossless on every shape, block verification on chains, above traversal on trees."""

import random
from itertools import product

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Logits, Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import stateless
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from draftproof.theory.verifiers import layered, named

LEAF = ()
SHAPES = {
    "binary": ((LEAF, LEAF), (LEAF, LEAF)),
    "uneven": ((LEAF,), LEAF),
    "late": (LEAF, (LEAF, LEAF)),
    "deep": (((LEAF, LEAF), LEAF), (LEAF,)),
    "wide": ((LEAF,), LEAF, (LEAF, LEAF)),
}
DRAFTS = [
    *(Tree(shape) for shape in SHAPES.values()),
    *(Tree(SHAPES[name], replacement=True) for name in ("binary", "uneven", "late")),
    Paths(2, 2),
    Paths(3, 2),
    Paths(2, 3),
]


def sparse(seed: int, draft, vocab: int) -> Instance:
    """Random small rationals, many of them zero."""
    rng = random.Random(seed)

    def row() -> list[fmpq]:
        while not sum(parts := [rng.choice([0, 0, 1, 2, 5]) for _ in range(vocab)]):
            pass
        return [fmpq(part, sum(parts)) for part in parts]

    prefixes = [prefix for depth in range(draft.depth + 1) for prefix in product(range(vocab), repeat=depth)]
    target, proposal = ({prefix: row() for prefix in prefixes} for _ in range(2))
    return Instance(Table.exact(vocab, target), Table.exact(vocab, proposal), draft)


EXACT = [(name, draft) for name in ("layered", "lifted") for draft in DRAFTS]


@pytest.mark.parametrize(("verifier", "draft"), EXACT, ids=str)
def test_law_is_exact(verifier, draft):
    for seed in range(6):
        inst = sparse(seed, draft, 2 if draft.depth > 2 else 3)
        assert emission(inst, named(verifier)).wrong_prefix() is None


@pytest.mark.parametrize("verifier", ["layered", "lifted"])
def test_chains_are_verified_as_blocks(verifier):
    for seed in range(20):
        inst = sparse(seed, Chain(3), 3)
        found, block = (emission(inst, named(name)).expected_accepted for name in (verifier, "block"))
        assert found == block


@pytest.mark.parametrize("draft", [Tree(SHAPES["binary"]), Paths(2, 2)], ids=str)
def test_never_below_traversal_here(draft):
    for seed in range(30):
        inst = sparse(seed, draft, 3)
        found, traversal = (emission(inst, named(n)).expected_accepted for n in ("layered", "traversal"))
        assert found >= traversal


ALONE, LONG, WIDE = ((LEAF,), LEAF), (((LEAF,),), LEAF), ((LEAF,), LEAF, LEAF)
FORKED = (((LEAF, LEAF),), LEAF)


@pytest.mark.parametrize(("shape", "vocab"), [(ALONE, 2), (LONG, 2), (WIDE, 3)], ids=str)
def test_where_the_whole_vocabulary_is_drafted_it_closes_nothing(shape, vocab):
    """The first sibling alone has children, and which tokens were drafted is certain; not so one token on."""
    closed = []
    for size in (vocab, vocab + 1):
        for instance in Randoms(Tree(shape), size, 6, law=Logits()):
            gained = [emission(instance, named(name)).expected_accepted for name in ("layered", "traversal")]
            closed.append((size, gained[0] - gained[1], stateless(instance).lower - gained[1]))
    assert all(gain == 0 for size, gain, _ in closed if size == vocab)
    assert any(missing > exact("1/100") for size, _, missing in closed if size == vocab)
    assert any(gain > 0 for size, gain, _ in closed if size > vocab)


def test_it_is_below_traversal_on_an_irregular_shape_without_zeros():
    below = 0
    for instance in Randoms(Tree(SHAPES["deep"]), 2, 40, law=Logits(grain=2**20)):
        rows = [row for table in (instance.target, instance.proposal) for _, row in table.given()]
        assert min(mass for row in rows for mass in row) > 0
        found, traversal = (
            emission(instance, named(name)).expected_accepted for name in ("layered", "traversal")
        )
        below += found < traversal
    assert below == 11


@pytest.mark.parametrize("draft", [Tree(SHAPES["binary"]), Tree(SHAPES["deep"]), Paths(2, 3)], ids=str)
def test_nodes_may_take_turns(draft, monkeypatch):
    monkeypatch.setattr(layered, "TOGETHER", 1)
    monkeypatch.setattr(layered, "LAST", 1)
    for seed in range(12):
        inst = sparse(seed, draft, 2 if draft.depth > 2 else 3)
        assert emission(inst, named("layered")).wrong_prefix() is None


def test_which_accepts_more_depends_on_rows_that_not_every_draft_shows():
    """Traversal or layered transport: both instances have the same rows at the root, and of all others a
    draft with replacement may show none twice.
    """
    p, q, half, more = ["1/30", "29/30"], ["19/20", "1/20"], ["1/2", "1/2"], ["2/3", "1/3"]
    draft = Tree((((LEAF,), LEAF), (LEAF,)), replacement=True)
    gains = []
    for target, proposal in (
        ({(): p}, {(): q, (0,): half}),
        ({(): p, (0,): half, (1,): half}, {(): q, (0,): more, (1,): more}),
    ):
        instance = Instance(Table.exact(2, target), Table.exact(2, proposal), draft)
        found = [emission(instance, named(name)) for name in ("layered", "traversal")]
        assert all(each.wrong_prefix() is None for each in found)
        gains.append(found[0].expected_accepted - found[1].expected_accepted)
    assert gains == [exact("-23137/3456000"), exact("17/2700")]
