"""Hypothesis strategies for exact rows."""

from flint import fmpq
from hypothesis import strategies as st


def rows(vocab: int) -> st.SearchStrategy[tuple[fmpq, ...]]:
    """Rational rows, zeros and point rows among them."""
    weights = st.lists(st.integers(0, 12), min_size=vocab, max_size=vocab).filter(any)
    return weights.map(lambda w: tuple(fmpq(x, sum(w)) for x in w))


@st.composite
def pairs(draw: st.DrawFn, most: int = 4) -> tuple[tuple[fmpq, ...], tuple[fmpq, ...]]:
    """(p, q) of one vocabulary of up to `most` tokens."""
    vocab = draw(st.integers(1, most))
    return draw(rows(vocab)), draw(rows(vocab))
