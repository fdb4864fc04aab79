"""Logits to rows: temperature, top-k, top-p, min-p."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from draftproof.theory.errors import BadInput  # noqa: E402
from tests.gpu.logits import probabilities  # noqa: E402

logits = st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=12).map(torch.tensor)


@given(logits, st.floats(0.1, 3))
def test_temperature_is_a_softmax(x, temperature):
    assert torch.allclose(probabilities(x, temperature), torch.softmax(x / temperature, -1), atol=1e-6)


HEATS = st.sampled_from([0.0, 1e-300, 1e-3, 0.7, 1.0])


@given(logits, HEATS, st.integers(0, 5), st.floats(0, 1), st.floats(0, 1))
@example(torch.tensor([0.0, 1e-9]), 0.7, 0, 0.0, 0.0)  # one float32 probability, but two logits
def test_always_a_law_that_keeps_the_likeliest_token(x, temperature, top_k, top_p, min_p):
    row = probabilities(x, temperature, top_k, top_p, min_p)
    assert row.dtype == torch.float32
    assert abs(float(row.sum()) - 1) < 1e-5
    assert row.min() >= 0
    assert row[x.argmax()] == row.max() > 0


@given(logits, st.integers(1, 12))
def test_top_k_keeps_the_k_likeliest_ties_to_the_lower_id(x, k):
    kept = set(probabilities(x, top_k=k).nonzero().flatten().tolist())
    best = sorted(range(len(x)), key=lambda i: (-float(x[i]), i))[:k]
    assert kept == {i for i in best if torch.softmax(x, -1)[i] > 0}


@given(logits, st.floats(0.05, 0.95))
def test_top_p_keeps_the_fewest_tokens_that_reach_it(x, top_p):
    full = torch.softmax(x, -1).double()
    kept = probabilities(x, top_p=top_p) > 0
    mass = float(full[kept].sum())
    assert mass >= top_p - 1e-6
    assert mass - float(full[kept].min()) < top_p + 1e-6


@given(logits, st.floats(0.01, 1))
def test_min_p_is_relative_to_the_likeliest(x, min_p):
    full = torch.softmax(x, -1)
    assert torch.equal(probabilities(x, min_p=min_p) > 0, (full >= min_p * full.max()) & (full > 0))


def test_bfloat16_logits_are_read_exactly():
    x = torch.randn(5, 7).bfloat16()
    assert torch.equal(probabilities(x), probabilities(x.float()))


@pytest.mark.parametrize(
    "bad", [[torch.nan, 0.0], [torch.inf, 0.0], [torch.inf, torch.inf], [-torch.inf] * 2]
)
@pytest.mark.parametrize("settings", [{}, {"temperature": 0.0}, {"top_k": 1}, {"top_p": 0.5}, {"min_p": 0.5}])
def test_a_row_that_is_no_law_becomes_nan(bad, settings):
    assert probabilities(torch.tensor([bad, [0.0, 1.0]]), **settings).isnan().any(-1).tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", -1.0), ("temperature", float("nan")), ("top_k", -1), ("top_p", 1.5), ("min_p", -0.1)],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(BadInput, match=name):
        probabilities(torch.zeros(3), **{name: value})
