"""The law that a draw of plain torch emits at a real vocabulary, counted over its grid of uniforms."""

from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.sampling.strata import stratified  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import Drafts  # noqa: E402
from draftproof.gpu.verify.chains import TOKEN  # noqa: E402
from draftproof.gpu.verify.residual import draws  # noqa: E402
from tests.gpu.counted import KINDS, WORD, V, apart, counts, logits  # noqa: E402


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


def step(p, q, bits=WORD):
    """[V] integers: of the uniforms of a drafted token (of so many bits), its coin and the extra token, how
    many make token verification emit each token first.
    """
    drafted = counts(lambda u: draws(q, torch.from_numpy(u)).numpy(), V, bits)
    every = torch.arange(V)[:, None]
    drafts = Drafts(Tree.chain(1), p.expand(V, 2, V), q.expand(V, 1, V), every)
    rates = TOKEN.rates(drafts)
    passed = (rates.accept[:, 1].double() * 2.0**WORD).ceil().long().numpy()  # coins k 2^-53 below the rate
    rejected = np.flatnonzero(passed < 1 << WORD)
    first = torch.from_numpy(rejected[:1])  # after any other token the row is the same: it has no mass there
    left = TOKEN.left(drafts.take(first), rates.cut[first], torch.zeros(1, dtype=torch.long))[0]
    assert not left[rejected].any()
    extra = counts(lambda u: draws(left, torch.from_numpy(u)).numpy(), V)
    drafted, passed, extra = (each.astype(object) for each in (drafted, passed, extra))
    return (drafted * passed << WORD) + (drafted * ((1 << WORD) - passed)).sum() * extra


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "zipf"])
def test_a_step_of_token_verification_emits_the_targets_law(kind):
    given = torch.from_numpy(logits(kind)), torch.from_numpy(logits("zipf in any order"))
    p, q = (row.softmax(0) for row in given)
    exact = given[0].double().softmax(0).numpy()
    assert apart(step(p, q), exact) < 1e-6
    assert apart(step(p, q, bits=24), exact) > 1e-4
    assert apart(step(p * (1 + 1e-4 * (p < q)), q), exact) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flat", "normal"])
def test_the_token_of_a_stratum_follows_the_law_that_verifiers_take_for_it(kind):
    row, K = torch.from_numpy(np.sort(logits(kind))[::-1].copy()).softmax(0), 3
    with mock.patch.object(torch, "searchsorted", wraps=torch.searchsorted) as found:
        mean, places, _ = stratified(row[None], torch.tensor([K]), torch.zeros(1, K).double())
    ends, last = found.call_args.args[0], found.call_args.args[0][:, -1:]
    last = torch.nextafter(last, torch.zeros_like(last))
    for j in range(K):

        def draw(u, j=j):
            at = torch.minimum(j + torch.from_numpy(u)[None], last)
            return torch.searchsorted(ends, at, right=True)[0].numpy()

        law = (K * mean[0].double() * (1 - (places[0].double() - j).abs()).clamp(min=0)).numpy()
        assert apart(counts(draw, V), law) < 1e-6
        assert apart(counts(draw, V, bits=16), law) > 1e-6
