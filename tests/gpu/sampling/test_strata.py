"""Strata of batches: theory/shared/strata.py's, and tokens drawn from them."""
# ruff: noqa: E402

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact.drafts import mean, places
from draftproof.gpu.sampling import strata
from draftproof.theory.numbers import exact as number
from draftproof.theory.shared import strata as exact


def random_row(rng, V):
    weights = rng.integers(0, 12, V) * (rng.random(V) < 0.8)
    weights[rng.integers(V)] += rng.choice([1, 1000])
    return tuple(number(f"{int(w)}/{int(weights.sum())}") for w in weights)


@pytest.mark.parametrize("V", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_rows_of_few_tokens_have_the_exact_strata(V, K):
    rng = np.random.default_rng(V * 10 + K)
    for _ in range(20):
        q = random_row(rng, V)
        laws = exact.strata(q, K)
        found = strata.stratified(
            torch.tensor([list(map(float, q))], dtype=torch.double), torch.tensor([K]), torch.rand(1, K)
        )
        assert found[0][0].tolist() == pytest.approx(list(map(float, mean(laws))), abs=1e-12)
        drafted = [x for x, mass in enumerate(mean(laws)) if mass > 0]
        assert found[1][0, drafted].tolist() == pytest.approx([float(places(laws)[x]) for x in drafted])
        for j, x in enumerate(found[2][0].tolist()):
            assert laws[j][x] > 0 if j < len(laws) else x == -1


def test_every_sibling_follows_its_stratum():
    count, K = 20_000, 4
    q = torch.softmax(2 * torch.randn(1, 30, generator=torch.Generator().manual_seed(1)), -1)
    u = (torch.arange(count)[:, None] + 0.5).div(count).expand(-1, K)
    mean, places, tokens = strata.stratified(q.expand(count, -1), torch.full((count,), K), u)
    laws = K * mean[0] * (1 - (places[0] - torch.arange(K)[:, None]).abs()).clamp(min=0)
    assert laws.sum(1).tolist() == pytest.approx([1.0] * K, abs=1e-5)
    for law, drawn in zip(laws, tokens.unbind(1), strict=True):
        assert (torch.bincount(drawn, minlength=30) / count - law).abs().max() < 5e-4


@pytest.mark.parametrize("logits", [[0.0] * 5000, [60.0] + [0.0] * 4999, [60.0, 60.0] + [-60.0] * 4998])
def test_extreme_rows_give_tokens_with_mass(logits):
    q = torch.softmax(torch.tensor([logits]), -1)
    ends = torch.tensor([[0.0, 1 - 2**-24, 0.0, 1 - 2**-24]])
    mean, places, tokens = strata.stratified(q, torch.tensor([4]), ends)
    assert mean.isfinite().all()
    assert places.isfinite().all()
    assert abs(float(mean.sum()) - 1) < 1e-5
    assert (mean.gather(1, tokens.clamp(min=0)) > 0).all()
    assert (q.gather(1, tokens.clamp(min=0)) > 0).all()
