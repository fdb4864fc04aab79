"""The law that a draw of plain torch emits at a real vocabulary, counted over its grid of uniforms."""

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.verify.residual import draws  # noqa: E402
from tests.gpu.counted import KINDS, V, apart, counts, logits  # noqa: E402


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(4)
def test_the_law_is_the_rows_own_with_53_bits_and_not_with_24(kind):
    row = torch.from_numpy(logits(kind)).softmax(0)
    exact = torch.from_numpy(logits(kind)).double().softmax(0).numpy()

    def draw(u):
        return draws(row, torch.from_numpy(u)).numpy()

    found = counts(draw, V)
    assert apart(found, row.numpy()) < 1e-11
    assert apart(found, exact) < 1e-6
    assert (found[exact > 1e-14] > 0).all()
    coarse = apart(counts(draw, V, bits=24), row.numpy())
    assert coarse > 1e-6
    if kind == "flat":
        assert 2.2e-3 < coarse < 2.3e-3
