"""The outer enumeration: its decision trees say, at every rational point, what exact enumeration says."""

from dataclasses import replace
from itertools import product

import pytest

from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.cells.symbol import sign, value
from draftproof.proofs_check.cells.tree import Leaf, leaves
from draftproof.proofs_check.prove import through
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named
from tests.checks import completed
from tests.mutants.rules import CHAINS, LISTED

FAST = [
    *[(named(name), 2, Chain(2)) for name in ("token", "block", "hsd-released")],
    *[(named(name), 3, Chain(1)) for name in ("token", "block")],
    *[(named(name), 2, Tree(((), ()), True)) for name in ("specinfer", "rrs", "traversal")],
    (named("rrs"), 2, Tree((((),), ()))),
]

SLOW = [
    (named("multipath-block"), 2, Chain(2)),
    (named("traversal"), 3, Chain(1)),
    *[(named(name), 2, Tree((((),), ()))) for name in ("specinfer", "traversal")],
    (named("hsd-multidraft-released"), 2, Paths(2, 1)),
    *[
        (replace(bug.verifier, name=bug.name), 2, Chain(2))
        for bug in LISTED
        # Of the others coins or rows are no law, or a row below the draft is read.
        if bug.drafts is CHAINS and bug.row not in ("1", "8", "20", "25", "30")
    ],
]
"""Lossless rules, and lossy ones, whose trees have many leaves."""

CASES = [
    pytest.param(
        *case, id=f"{case[0].name} V={case[1]} {case[2]}", marks=[pytest.mark.slow] if case in SLOW else []
    )
    for case in FAST + SLOW
]


def point_of(domain, instance):
    """The instance as values of the domain's parameters."""
    tables = {"p": instance.target, "q": instance.proposal}
    point = {}
    for name in domain.number.variables.names():
        letter, *rest = name.split("_")
        *prefix, x = map(int, rest)
        point[name] = tables[letter][tuple(prefix)][x]
    return point


def evaluated(tree, point):
    while not isinstance(tree, Leaf):
        tree = tree.yes if sign(value(tree.polynomial, point)) & tree.signs else tree.no
    return value(tree.value.top, point) / value(tree.value.bottom, point)


@pytest.mark.parametrize(("verifier", "vocab", "scheme"), CASES)
@pytest.mark.sampled(4)
def test_a_tree_agrees_with_enumeration_at_points(verifier, vocab, scheme):
    domain = Domain(vocab, scheme.depth)
    instances = [*Scenarios(scheme, vocab), *Randoms(scheme, vocab, 40)]
    laws = [completed(instance, verifier)[0] for instance in instances]
    for word in product(range(vocab), repeat=scheme.depth):
        tree = domain.enumeration.expectation(through(domain, verifier, scheme, word), domain.whole)
        for instance, law in zip(instances, laws, strict=True):
            exact = law.marginal(len(word))[word]
            assert evaluated(tree, point_of(domain, instance)) == exact


def test_what_is_lossless_is_one_leaf():
    domain = Domain(2, 2)
    tree = domain.enumeration.expectation(through(domain, named("block"), Chain(2), (0, 1)), domain.whole)
    assert isinstance(tree, Leaf)
    assert tree.value.top == domain.product((0, 1), domain.target).top


def test_the_leaves_cover_the_domain():
    domain = Domain(2, 2)
    program = through(domain, named("hsd-released"), Chain(2), (1, 0))
    tree = domain.enumeration.expectation(program, domain.whole)
    parts = [cell for cell, _ in leaves(domain.whole, tree)]
    assert len(parts) > 1
    for instance in Randoms(Chain(2), 2, 30):
        point = point_of(domain, instance)
        inside = [
            all(sign(value(cell.solver.polynomials[key], point)) & signs for key, signs in cell.facts.items())
            and all(value(replaced, point) == point[name] for name, replaced in cell.equal)
            for cell in parts
        ]
        assert sum(inside) == 1


def test_the_deadline_is_kept():
    domain = Domain(3, 2, seconds=0)
    with pytest.raises(OutOfTime):
        domain.enumeration.expectation(through(domain, named("block"), Chain(2), (0, 0)), domain.whole)
