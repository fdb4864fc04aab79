"""The draw of Y: the inverse of a cumulative sum, never a token without mass."""
# ruff: noqa: E402

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from draftproof.gpu.verify.residual import draw
from tests.gpu.verify.batches import ONE_BELOW


@given(
    st.lists(st.sampled_from([0.0, 1e-38, 1e-9, 0.25, 1.0]), min_size=1, max_size=9),
    st.floats(0, 1, width=32),
)
def test_a_token_without_mass_is_never_drawn(masses, u):
    row = torch.tensor([masses])
    if row.sum() > 0:
        token = int(draw(row, torch.tensor([min(u, ONE_BELOW)]))[0])
        assert row[0, token] > 0


def test_the_draw_is_the_inverse_of_the_cumulative_sum():
    row = torch.rand(1, 1000, generator=torch.Generator().manual_seed(0))
    u = torch.rand(5000, generator=torch.Generator().manual_seed(1))
    got = draw(row.expand(5000, -1), u)
    reach = row[0].double().cumsum(0)
    assert torch.equal(got, torch.searchsorted(reach, u.double() * reach[-1], right=True))


def test_a_uniform_at_a_threshold_draws_the_next_token_with_mass():
    row = torch.tensor([[0.25, 0.0, 0.75]])
    assert draw(row.expand(2, -1), torch.tensor([0.2, 0.25])).tolist() == [0, 2]
