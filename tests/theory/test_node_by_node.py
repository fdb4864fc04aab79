"""Every run node by node equals the enumeration of its verifier, exactly."""

from dataclasses import replace

import pytest

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws import nodes
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import VERIFIERS, named

SHAPES = (((), (), ()), (((), ()), ()), ((((),), ((),))), (((), ()), ((), ())))
DRAFTS: list[Scheme] = [
    *(Chain(depth) for depth in (1, 2, 3)),
    *(Paths(count, depth) for count, depth in ((2, 2), (3, 1))),
    *(SpecHub(depth) for depth in (1, 2)),
    *(Tree(shape, replacement) for shape in SHAPES for replacement in (True, False)),
    *(kind(shape) for shape in SHAPES for kind in (Greedy, TopK, Stratified)),
]


@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_rules_that_go_down_node_by_node_are_run_one_node_at_a_time(draft: Scheme) -> None:
    for instance in Randoms(draft, 2 if draft.label == "tree with replacement" else 3, 2, seed=13):
        for verifier in VERIFIERS.values():
            if draft.label in verifier.drafts and nodes.applies(instance, verifier):
                want = emission(instance, verifier).expected_accepted
                assert nodes.expected_accepted(instance, verifier) == want, verifier.name


def test_a_lift_does_not_go_down_node_by_node() -> None:
    rule = replace(named("lifted-priority"), name="priority")
    instances = Randoms(Tree((((), ()), ()), True), 3, 6)
    assert any(
        nodes.expected_accepted(each, rule) != emission(each, rule).expected_accepted for each in instances
    )
    assert not any(nodes.applies(each, named("lifted-priority")) for each in instances)


def test_a_rule_of_the_same_name_is_not_the_projects() -> None:
    (instance,) = Randoms(Chain(2), 2, 1)
    assert nodes.applies(instance, named("token"))
    assert not nodes.applies(instance, replace(named("block"), name="token"))


def test_every_rule_of_single_steps_goes_down_node_by_node() -> None:
    node_by_node = [verifier for verifier in VERIFIERS.values() if verifier.node_by_node]
    assert len(node_by_node) > 12
    assert not any(verifier.carry for verifier in node_by_node)
