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
    """The definition, by trying every place from the last on."""
    for n in range(min(longest, len(text)), 0, -1):
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return text[end : end + most]
    return []


@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=8), st.integers(1, 5))
def test_lookup_is_its_definition_however_the_text_grew(pieces, most):
    text = [1, *(token for piece in pieces for token in piece)]
    session = NgramDrafter(target()).begin([[1]], 100)
    for piece in pieces:
        session._append(0, piece)
    assert session.found(0, most) == looked_up(text, most)


def test_rows_are_one_hot_and_short_ones_are_padded():
    session = NgramDrafter(target()).begin([[1, 2, 3, 1], [4, 5]], 100)
    draft = session.draft(structure("chain:4"), Sampling(), torch.empty(2, 4))
    assert draft.tokens.tolist() == [[2, 3, 1, -1], [-1] * 4]
    assert draft.proposal[0, torch.arange(3), draft.tokens[0, :3]].tolist() == [1, 1, 1]
