"""float32 decides as float64 does, at real vocabulary sizes."""

import pytest

torch = pytest.importorskip("torch")

from gpu.exact import large  # noqa: E402
from gpu.exact.large import KINDS, closeness  # noqa: E402
from gpu.verify import VERIFIERS, recursive  # noqa: E402


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
    monkeypatch.setattr(large, "KINDS", {name: KINDS[name] for name in ("near-equal", "adversarial")})
    agree(500)


@pytest.mark.slow
@pytest.mark.parametrize("vocab", [128_256, 262_144])
def test_a_real_vocabulary(vocab):
    agree(vocab)


def test_cancellation_is_found(monkeypatch):
    def cancelled(tree, q, nodes, tokens, drawn):
        left = exact(tree, q, nodes, tokens, drawn)
        return 1 - (1 - left)

    exact = recursive._left
    monkeypatch.setattr(recursive, "_left", cancelled)
    monkeypatch.setattr(large, "KINDS", {"peaked": KINDS["peaked"]})
    monkeypatch.setattr(large, "DRAFTS", {"tree": large.DRAFTS["tree"]})
    found = {
        each.verifier: each.of_margin for seed in range(3) for each in closeness(5000, batch=8, seed=seed)
    }
    assert max(found["rrs"], found["traversal"]) > 1
