"""One spelling of a draft, wherever a draft is asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.files import document, draft_of, parse
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.names import numbers
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput

SMALL = st.integers(1, 4)


@given(SMALL, SMALL)
def test_each_kind(width, depth):
    size = f"{width}x{depth}"
    assert draft_of(f"chain:{depth}") == Chain(depth)
    assert draft_of(f"spechub:{depth}") == SpecHub(depth)
    assert draft_of(f"paths:{size}") == Paths(width, depth)
    assert draft_of(f"tree:{size}") == Tree(every(width, depth), False)
    assert draft_of(f"tree+:{size}") == Tree(every(width, depth), True)
    assert draft_of(f"top-k:{size}") == TopK(every(width, depth))
    assert draft_of(f"greedy:{size}") == Greedy(every(width, depth))
    assert draft_of(f"strata:{size}") == Stratified(every(width, depth))


def test_shapes_may_be_spelled_out():
    assert draft_of("tree:[[[],[]],[[]]]") == Tree((((), ()), ((),)))
    assert draft_of("tree:eagle").depth == 5


def test_an_instance_file_may_hold_the_word():
    written = document(scenario("toy", Chain(2)))
    assert parse(json.dumps(written | {"draft": "chain:2"})) == parse(json.dumps(written))


WRONG = """oak:2
chain chain: chain:0 chain:2x3 chain:999999 chain:² paths:3 paths:3x4x5 tree:x tree:[[ tree:[]
tree:[1] tree:9x9 tree+"""


@pytest.mark.parametrize("wrong", [*WRONG.split(), ""])
def test_what_is_no_draft_is_refused_in_one_line(wrong):
    with pytest.raises(BadInput) as refused:
        draft_of(wrong)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("draft")


def test_numbers_are_joined_by_x() -> None:
    assert numbers("3x4", 2) == [3, 4]


@pytest.mark.parametrize(("wrong", "meant"), [("chian:4", "chain:4"), ("strat:4x2", "strata:4x2")])
def test_a_word_like_a_draft_is_suggested(wrong, meant):
    with pytest.raises(BadInput, match=rf"is no draft; did you mean {meant}\?"):
        draft_of(wrong)
