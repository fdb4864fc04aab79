"""The priority rule stage by stage: what it equals, and where it is lossless."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.instances.strategies import instances, schemes
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.stages import Stages
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

VERIFIER = named("lifted-stages")
UNEVEN = (((),), (), ())


@settings(deadline=None)
@given(data=st.data())
def test_lossless_on_any_shape(data):
    instance = data.draw(instances(data.draw(schemes("stages", nodes=4))))
    assert emission(instance, VERIFIER).total_variation == 0


@pytest.mark.parametrize("draft", [Tree(UNEVEN), Stratified(UNEVEN)], ids=["without replacement", "strata"])
def test_lossy_on_siblings_drawn_otherwise(draft):
    assert any(emission(each, VERIFIER).total_variation > 0 for each in Randoms(draft, 3, 10))


@pytest.mark.parametrize(
    ("ours", "draft", "name"),
    [
        (Chain(3), Chain(3), "block"),
        (Stages((((),), ((),))), Stratified((((),), ((),))), "lifted-priority"),
        (Stages(((((),),), ((),), ())), Tree(((((),),), ((),), ())), "traversal"),
    ],
    ids=["chain", "even", "no two alike"],
)
def test_equal_laws(ours, draft, name):
    for instance in Randoms(ours, 3, 6):
        other = emission(replace(instance, draft=draft), named(name))
        found = emission(instance, VERIFIER)
        assert (found.law(), found.stopped) == (other.law(), other.stopped)


def test_on_uneven_trees_more_is_accepted_than_by_traversal_and_by_strata_on_average():
    accepted = [0, 0, 0]
    for instance in Randoms(Stages((((),), ((),), (), ())), 4, 8, law=Mixed()):
        for at, (kind, name) in enumerate(
            ((Stages, "lifted-stages"), (Tree, "traversal"), (Stratified, "lifted-priority"))
        ):
            given = replace(instance, draft=kind(instance.draft.shape))
            accepted[at] += emission(given, named(name)).expected_accepted
    assert accepted[0] > accepted[1] > accepted[2]
