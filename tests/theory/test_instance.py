import pytest

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import supported
from draftproof.theory.table import Table
from tests.checks import assert_one_line
from tests.problems import TOY


def test_vocabularies_must_agree():
    with pytest.raises(BadInput) as caught:
        context_free([1, 0], [1, 0, 0], Chain(1))
    assert_one_line(caught.value, "target has vocab 2, proposal 3")


def test_drafts_beyond_enumeration_are_refused():
    with pytest.raises(BadInput) as caught:
        context_free(["1/2", "1/2"], ["1/2", "1/2"], Paths(9, 3))
    assert_one_line(caught.value, "more than 100,000,000 outcomes")


def test_only_tokens_that_can_be_drawn_count_as_outcomes():
    assert supported((ZERO, ONE, ZERO)) == 1
    assert context_free(["1/2", "1/2"], [0, 1], Paths(9, 3)).vocab == 2


def test_the_widest_row_counts():
    half = Table.exact(2, {(): ["1/2", "1/2"]})
    with pytest.raises(BadInput, match="outcomes"):
        Instance(half, Table.exact(2, {(): [0, 1], (1,): ["1/2", "1/2"]}), Paths(9, 3))


def test_the_name_is_no_part_of_an_instance():
    assert Instance(TOY.target, TOY.proposal, TOY.draft, "toy") == TOY
    assert Instance(TOY.proposal, TOY.target, TOY.draft) != TOY
