"""Stages: strata of what the stages before left; one sibling a stage is a draw without replacement."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import instances, schemes
from draftproof.theory.drafts.stages import Stages
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.table import Table
from tests.checks import drafts

PATH, ALONE = (((),),), ((((),),), ((),), ())
"""A chain of two; a tree in which no siblings are alike."""


def law(scheme, table):
    found = Counter()
    for weight, draft in drafts(scheme, table):
        found[tuple(node.prefix for node in draft.root)] += weight
    return found


@given(data=st.data())
def test_siblings_that_are_alike_are_strata(data):
    draft = Stratified(((), (), ()))
    table = data.draw(instances(draft, vocab=3)).proposal
    assert law(Stages(draft.shape), table) == law(draft, table)


@given(data=st.data())
def test_siblings_that_are_not_alike_are_drawn_without_replacement(data):
    table = data.draw(instances(Tree(ALONE), vocab=3)).proposal
    assert law(Stages(ALONE), table) == law(Tree(ALONE), table)


def test_a_later_stage_is_drawn_from_what_is_left():
    q = Table.exact(3, {(): ["1/2", "1/4", "1/4"]})
    found = law(Stages((((),), (), ())), q)
    after_0 = {words: weight for words, weight in found.items() if words[1] == (0,)}
    assert {tuple(sorted(words[-2:])) for words in after_0} == {((1,), (2,))}


@given(data=st.data())
def test_each_stage_names_the_row_that_its_siblings_were_drawn_from(data):
    instance = data.draw(instances(data.draw(schemes("stages")), vocab=3))
    for _, draft in drafts(instance.draft, instance.proposal):
        for node in draft.root:
            seen = [child for stage in draft.stages(node) for child in stage.children]
            assert seen == list(node.children)
            earlier = set()
            for stage in draft.stages(node):
                assert all(not stage.proposal[token] for token in earlier)
                assert all(R[c.token] for R, c in zip(draft.laws(stage), stage.children, strict=True))
                earlier |= {child.token for child in stage.children}


@pytest.mark.parametrize("shape", [[], [[], 1], None])
def test_a_shape_that_is_none_is_refused_as_for_other_trees(shape):
    with pytest.raises(ValueError, match="shape"):
        Stages(shape)
