"""The search for a node at which the optimum's plan keeps less than alpha* finds what it should."""

from dataclasses import replace
from itertools import islice

import pytest

from draftproof.theory.transport.siblings import independent_law
from draftproof.theory.transport.single_step import subset_formula
from draftproof.theory.verifiers.shared import optimal as plans
from studies.optimum_search import (
    BROKEN,
    LATTICES,
    RIGHT,
    block,
    edited,
    fault,
    lattice,
    random_nodes,
    search,
)


def test_the_code_that_ships_has_no_fault_on_a_whole_lattice_and_at_random():
    whole = list(lattice("rows", 2, 2, 2))
    assert len(whole) == len(set(whole)) == 6 * 6  # parts of rows, and pairs of rows without order
    for nodes in (whole, random_nodes(1, 200)):
        found = search(nodes, plans.__dict__)
        assert (found.faults, found.first) == ({}, None)
        assert found.nodes == found.steps.total() == found.orders.total()
    assert max(found.steps) > 3
    assert max(len(laws) for _, laws in block(len(LATTICES) - 1)) == 3


def test_its_least_bound_is_alpha_star():
    for t, laws in random_nodes(2, 60):
        plan = plans.optimal(t, laws)
        assert fault(t, laws, plan) is None
        assert sum(t) - sum(plan.left) == subset_formula(t, independent_law(laws))
        if any(plan.left):
            less = replace(plan, left=tuple(mass / 2 for mass in plan.left))
            assert fault(t, laws, less) == "not what its orders leave"
        half = {order: chance / 2 for order, chance in plan.chances.items()}
        assert fault(t, laws, replace(plan, chances=half)) == "no law"


QUICK = "at most 4 orders", "bounds without the empty set", "no order goes", "the last order and the new one"


@pytest.mark.parametrize("name", QUICK)
def test_broken_versions_are_found(name):
    assert search(random_nodes(24, 60), edited(BROKEN[name])).faults


@pytest.mark.parametrize("name", RIGHT)
def test_other_right_versions_have_no_fault(name):
    assert not search(islice(random_nodes(25, 100), 100), edited(RIGHT[name])).faults


def test_an_edit_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="not once"):
        edited(("no such line", ""))
