"""float32 decides as float64 does, at real vocabulary sizes."""

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.draft import Tree  # noqa: E402
from draftproof.gpu.exact import large  # noqa: E402
from draftproof.gpu.exact.large import closeness  # noqa: E402
from draftproof.gpu.verify import VERIFIERS, Drafts, recursive  # noqa: E402


def agree(vocab: int) -> None:
    found = list(closeness(vocab))
    assert {each.verifier for each in found} == set(VERIFIERS)
    assert {each.logits for each in found} == set(large.KINDS)
    for each in found:
        assert each.wrong == 0, each
        assert each.of_margin <= 1, each
        assert each.row < 1e-3, each
    assert sum(each.rows for each in found) > 4 * len(found)


def test_a_small_vocabulary(monkeypatch):
    monkeypatch.setattr(large, "KINDS", ("near-equal", "adversarial"))
    agree(500)


@pytest.mark.slow
@pytest.mark.parametrize("vocab", [128_256, 262_144])
def test_a_real_vocabulary(vocab):
    agree(vocab)


def test_what_siblings_leave_is_summed_and_does_not_cancel():
    q = torch.softmax(torch.tensor([[[30.0, 3.0, 2.0, 1.0]]]), -1)
    drafts = Drafts(Tree([-1, 0, 0]), q, q, torch.tensor([[0, 1]]))
    left = recursive._left(drafts, q, torch.tensor([2]))
    want = torch.softmax(torch.tensor([30.0, 3.0, 2.0, 1.0], dtype=torch.float64), -1)[1:].sum()
    assert abs(float(left) / float(want) - 1) < 1e-5
