"""Rows end where they should, and nothing after that is kept."""

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.engine.output import Texts


def spelled(tokens):
    return "".join("abcdefghij"[token] for token in tokens)


def taken(stops, limit, pieces):
    texts, kept = Texts([limit], frozenset({9}), stops, spelled), []
    why = None
    for piece in pieces:
        (added,), (why,), stay = texts.take([list(piece)])
        kept += added
        assert texts.going == stay == ([] if why else [0])
        if why:
            break
    assert [kept] == texts.tokens
    return kept, why


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=8), st.integers(1, 12)
)
def test_pieces_end_where_one_token_at_a_time_does(pieces, limit):
    stops = ("cc", "dab")
    at_once = taken(stops, limit, pieces)
    singly = taken(stops, limit, [[token] for piece in pieces for token in piece])
    assert at_once == singly


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 12))
def test_a_row_has_no_token_after_its_end(tokens, limit):
    kept, why = taken(("cc",), limit, [tokens])
    assert len(kept) <= limit
    assert 9 not in kept[:-1]
    assert "cc" not in spelled(kept[:-1])
    assert (why == "end") <= (kept[-1] == 9)
