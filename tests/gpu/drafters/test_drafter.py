"""Prompt lookup copies what followed the latest longest match."""
# ruff: noqa: E402

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.drafter import NgramDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.sampling.rows import Sampling
from tests.gpu.small import target


def looked_up(text, most, longest=3):
    """By a table of where each n-gram that a token follows ended last."""
    ends = {}
    for end in range(1, len(text)):
        ends |= {tuple(text[end - n : end]): end for n in range(1, min(longest, end) + 1)}
    known = (ends.get(tuple(text[-n:])) for n in range(min(longest, len(text)), 0, -1))
    end = next((end for end in known if end is not None), len(text))
    return text[end : end + most]


@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=8), st.integers(1, 5))
def test_lookup_is_its_definition_however_the_text_grew(pieces, most):
    text = [1, *(token for piece in pieces for token in piece)]
    session = NgramDrafter(target()).begin([[1]], 100)
    for piece in pieces:
        session.texts[0] += piece
    assert session.found(0, most) == looked_up(text, most)


def test_rows_are_one_hot_and_all_are_as_long_as_the_longest():
    session = NgramDrafter(target()).begin([[1, 2, 3, 1], [4, 5]], 100)
    draft = session.draft(structure("chain:4"), Sampling(), torch.empty(2, 4))
    assert draft.tokens.tolist() == [[2, 3, 1], [-1] * 3]
    assert draft.tree.size == 4
    assert draft.proposal[0, torch.arange(3), draft.tokens[0, :3]].tolist() == [1, 1, 1]
