"""The mean of E[tau] given the draft, over all drafts, is the exact engine's E[tau]."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.values import optimal_classes
from draftproof.theory.verifiers import lifted_priority, named
from draftproof.theory.verifiers.shared import priority
from draftproof.theory.verifiers.shared.priority import included, plan

pytest.importorskip("torch", reason="the optimum in classes is planned by torch")

from studies.tree_designs import values
from studies.tree_designs.designs import DESIGNS
from tests.checks import drafts, mean_accepted
from tests.strategies import instances
from tests.studies.test_drafts import Rows

SHAPES = every(2, 2), (((), ()), ()), every(3, 1)
KINDS = {
    ("strata", "lifted-priority"): Stratified,
    ("i.i.d.", "lifted-priority"): lambda shape: Tree(shape, True),
    ("strata", "lifted-optimal"): Stratified,
    ("i.i.d.", "lifted-optimal"): lambda shape: Tree(shape, True),
    ("i.i.d.", "traversal"): lambda shape: Tree(shape, True),
    ("i.i.d.", "specinfer"): lambda shape: Tree(shape, True),
    ("without replacement", "traversal"): Tree,
    ("without replacement", "rrs"): Tree,
    ("greedy", "hu-greedy"): Greedy,
    ("top-k", "nss"): TopK,
}


def in_classes(draft, node, t):
    """The exact plan, in the classes of `values`."""
    laws = draft.laws(node)
    pi = included(laws)
    drafted = [x for x, mass in enumerate(pi) if mass > 0]
    t_, pi_ = (np.array(row, dtype=float)[drafted] for row in (t, pi))
    kinds = dict(zip(drafted, values.classes(t_, pi_), strict=True))
    return plan(t, laws, [[x for x in drafted if kinds[x] == c] for c in sorted(set(kinds.values()))])


def valued(instance, design) -> float:
    p, q = Rows(instance.target), Rows(instance.proposal)
    found = drafts(instance.draft, instance.proposal)
    return sum(float(weight) * design.value(p, q, draft.root) for weight, draft in found)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda each: f"{each.tree} {each.siblings} {each.verifier}")
@given(data=st.data())
@settings(max_examples=12)
def test_the_mean_over_drafts_is_exact(design, data):
    if design.tree == "same":
        draft = KINDS[design.siblings, design.verifier](data.draw(st.sampled_from(SHAPES)))
    elif design.tree == "best-first":
        draft = BestFirst(5, 3)
    elif design.tree == "chain":
        draft = Chain(3)
    else:
        draft = KINDS[design.siblings, design.verifier](SHAPES[1])
    instance = data.draw(instances(draft, vocab=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifted_priority, "planned", in_classes)
        patch.setattr(priority, "planned", in_classes)
        rule = named(design.verifier)
        if rule.name == "lifted-optimal":
            rule = replace(rule, verify=optimal_classes.verify_lifted)
        wanted = float(mean_accepted(instance, rule))
    assert valued(instance, design) == pytest.approx(wanted, abs=1e-6 if "optimal" in rule.name else 1e-9)


def test_another_rule_has_another_value():
    """The check above refuses, for one, the priority rule node by node for the lifted one."""
    instance = next(iter(_binary()))
    lifted = next(each for each in DESIGNS if (each.siblings, each.verifier) == ("strata", "lifted-priority"))
    p, q = Rows(instance.target), Rows(instance.proposal)
    other = sum(
        float(weight)
        * values.node_by_node(p, q, draft.root, lambda *given: values.strata_priority(*given)[0])
        for weight, draft in drafts(instance.draft, instance.proposal)
    )
    assert abs(other - valued(instance, lifted)) > 1e-3


def _binary():
    from draftproof.simulators.instances.randoms import Mixed, Randoms

    return Randoms(Stratified(every(2, 2)), 3, 4, law=Mixed())


@pytest.mark.parametrize("delay", [0, 2, 9])
def test_siblings_that_are_judged_later_take_what_t_has(delay):
    t, q = np.array([0.5, 0.1, 0.3]), np.array([0.3, 0.6, 0.1])
    taken = np.zeros(3)
    for x, y in np.ndindex(3, 3):
        kept, left = values.iid_priority(t, q, [x, y], delay)
        np.add.at(taken, [x, y], q[x] * q[y] * np.array(kept))
    assert taken + left == pytest.approx(t)
    first, _ = values.iid_priority(t, q, [0, 0], delay)
    assert first[0] == pytest.approx(1.0)
