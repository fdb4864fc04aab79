"""Every closed form equals the enumeration of its verifier, exactly."""

import pytest

from draftproof.simulators.instances.randoms import Randoms
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
from draftproof.theory.numbers import exact
from draftproof.theory.values import FORMS, expected_accepted
from draftproof.theory.values.nodes import distinct, shared_paths
from draftproof.theory.verifiers import named

SHAPES = (((), (), ()), (((), ()), ()), ((((),), ((),))), (((), ()), ((), ())))
DRAFTS: list[Scheme] = [
    *(Chain(depth) for depth in (1, 2, 3)),
    *(Paths(count, depth) for count, depth in ((2, 2), (3, 1))),
    *(SpecHub(depth) for depth in (1, 2)),
    *(Tree(shape, replacement) for shape in SHAPES for replacement in (True, False)),
    *(kind(shape) for shape in SHAPES for kind in (Greedy, TopK, Stratified)),
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
                    closed = expected_accepted(instance, name)
                except BadInput:  # subtrees of different shapes, for a rule that needs one shape
                    continue
                assert closed == emission(instance, named(name)).expected_accepted
                compared += 1
    assert compared >= 4


def test_names_without_a_form_are_refused() -> None:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    with pytest.raises(BadInput, match="hu-greedy has no closed form"):
        expected_accepted(toy, "hu-greedy")
    with pytest.raises(BadInput, match="differ in shape"):
        expected_accepted(
            context_free(["1/3", "2/3"], ["2/3", "1/3"], Tree((((),), ()), True)), "optimal-transport"
        )


def test_where_tokens_first_stand_without_replacement() -> None:
    third = exact("1/3")
    places = [(0, 0, third), (1, 0, 2 * third), (0, 1, 2 * third), (1, 1, third)]
    assert list(distinct((third, 2 * third), 2)) == places


def test_the_shape_below_a_token_that_two_paths_share() -> None:
    assert shared_paths((((),), ((),), ((),)), 2) == ((), ())
