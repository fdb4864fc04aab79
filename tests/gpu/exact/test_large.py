"""float32 decides as float64 does, at real vocabulary sizes."""

import pytest

torch = pytest.importorskip("torch")

from gpu.exact.large import KINDS, closeness  # noqa: E402
from gpu.verify import VERIFIERS  # noqa: E402


def agree(vocab: int) -> None:
    found = list(closeness(vocab))
    assert {each.verifier for each in found} == set(VERIFIERS)
    assert {each.logits for each in found} == set(KINDS)
    for each in found:
        assert each.wrong == 0, each
        assert each.of_margin <= 1, each
        assert each.row < 1e-3, each
    assert sum(each.rows for each in found) > 4 * len(found)


def test_a_small_vocabulary():
    agree(500)


@pytest.mark.slow
@pytest.mark.parametrize("vocab", [128_256, 262_144])
def test_a_real_vocabulary(vocab):
    agree(vocab)
