"""Every closed form, and every run node by node, equals the enumeration of its verifier, exactly."""

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
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.verifiers import VERIFIERS, named

SHAPES = (((), (), ()), (((), ()), ()), ((((),), ((),))), (((), ()), ((), ())))
DRAFTS: list[Scheme] = [
    *(Chain(depth) for depth in (1, 2, 3)),
    *(Paths(count, depth) for count, depth in ((2, 2), (3, 1))),
    *(SpecHub(depth) for depth in (1, 2)),
    *(Tree(shape, replacement) for shape in SHAPES for replacement in (True, False)),
    *(kind(shape) for shape in SHAPES for kind in (Greedy, TopK, Stratified)),
]


FORMS = [
    (each.name, label) for each in VERIFIERS.values() for labels in each.forms.values() for label in labels
]


@pytest.mark.parametrize(("name", "label"), FORMS)
def test_equal_to_enumeration(name: str, label: str) -> None:
    compared = 0
    for draft in DRAFTS:
        if draft.label != label:
            continue
        for vocab in (2, 3):
            for instance in Randoms(draft, vocab, 2, seed=13):
                try:
                    closed = named(name).form(label)(instance)
                except BadInput:  # subtrees of different shapes, for a rule that needs one shape
                    continue
                assert closed == emission(instance, named(name)).expected_accepted
                compared += 1
    assert compared >= 4


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
    assert not any(verifier.carry or verifier.forms for verifier in node_by_node)


def test_what_has_no_form_is_refused() -> None:
    assert named("hu-greedy").form("chain") is None
    uneven = context_free(["1/3", "2/3"], ["2/3", "1/3"], Tree((((),), ()), True))
    with pytest.raises(BadInput, match="differ in shape"):
        named("lifted").form(uneven.draft.label)(uneven)
