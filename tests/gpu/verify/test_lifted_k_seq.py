"""rho*, as batches find it."""
# ruff: noqa: E402

import pytest
from hypothesis import given

torch = pytest.importorskip("torch")

from draftproof.gpu.verify.lifted_k_seq import smallest_rho
from tests.gpu.verify.batches import drawn


@given(drawn(replacement=True))
def test_rho_is_where_the_condition_of_k_seq_holds_with_equality(batch):
    t, q = batch.target[:, :1].double() / 2, batch.target[:, :1].flip(-1).double()
    k = torch.tensor(3)
    rho = smallest_rho(t, q, k.expand(t.shape[:-1]))
    beta = torch.minimum(t / rho[..., None], q).sum(-1)
    assert ((rho >= 1) & (rho <= k)).all()
    assert torch.allclose(1 - (1 - beta) ** k, rho * beta, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_equal_rows_need_no_larger_rho(k):
    p = torch.softmax(torch.randn(4, 1000, generator=torch.Generator().manual_seed(k)).double(), -1)
    assert (smallest_rho(p, p, torch.full((4,), k)) == 1).all()


def test_rho_of_two_children_by_hand():
    third = torch.tensor([1 / 3, 2 / 3]).double()
    assert float(smallest_rho(third, third.flip(0), torch.tensor(2))) == pytest.approx(1.4343, abs=5e-5)
