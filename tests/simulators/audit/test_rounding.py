"""The line between rounding and bias: the smallest bias is rejected, rounding alone never."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from draftproof.simulators import audit
from draftproof.simulators.audit.rounding import ROUNDOFF, SHIFT, rounding_bound
from draftproof.simulators.support.make import weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from tests.mutants.controls import block_law, drawn, residual, weights
from tests.strategies import instances

BILLIONTH = 1e-9


def token(off, p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] / q[i, t] + off:
            return [*x[:i], drawn(residual(p[i], q[i]), rng)]
    return [*x, drawn(p[-1], rng)]


def token_in_logarithms(off, p, q, x, rng):
    for i, t in enumerate(x):
        with np.errstate(divide="ignore"):
            ratio = np.exp(np.log(p[i, t]) - np.log(q[i, t]))
        if not rng.random() < ratio + off:
            return [*x[:i], drawn(residual(p[i], q[i]), rng)]
    return [*x, drawn(p[-1], rng)]


def token_scaled_and_summed_backwards(off, p, q, x, rng):
    p, q = (rows / 3 / (rows / 3)[:, ::-1].sum(axis=1, keepdims=True) for rows in (p, q))
    for i, t in enumerate(x):
        if not rng.random() * q[i, t] < p[i, t] + off * q[i, t]:
            rest = residual(p[i], q[i])
            return [*x[:i], _inverted(rest, rng)]
    return [*x, _inverted(p[-1], rng)]


def block(off, p, q, x, rng):
    h, rows = block_law(p, q, x, weights(p, q, x))
    tau = max(i for i, u in enumerate(rng.random(len(h))) if i == 0 or u < h[i] + off)
    return [*x[:tau], drawn(rows[tau], rng)]


def one_hot(off, p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] + off:
            return [*x[:i], drawn(np.where(np.arange(len(p[i])) == t, 0.0, p[i]), rng)]
    return [*x, drawn(p[-1], rng)]


VERIFIERS = [token, token_in_logarithms, token_scaled_and_summed_backwards, block, one_hot]


def _inverted(row, rng):
    edges = np.cumsum(row / row.sum())
    return min(int(np.searchsorted(edges, rng.random(), side="right")), int(np.flatnonzero(row)[-1]))


def judged(verify, off, instance, dtype="float64"):
    def verifier(p, q, x, rng):
        return verify(off, p, q, x, rng)

    return audit.examine(verifier, instances=[instance], dtype=dtype, edges=False, smallest=False)


@pytest.mark.parametrize("verify", VERIFIERS, ids=lambda each: each.__name__)
@given(instance=instances(Chain(2)))
@pytest.mark.sampled(4)
def test_rounding_alone_is_never_bias(verify, instance):
    report = judged(verify, 0.0, instance)
    assert report.lossless, report


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("verify", VERIFIERS, ids=lambda each: each.__name__)
@given(instance=instances(Chain(2), zeros=False))
@pytest.mark.sampled(6)
def test_rounding_in_narrow_types_is_never_bias(verify, dtype, instance):
    report = judged(verify, 0.0, instance, dtype)
    assert report.lossless, report


@pytest.mark.parametrize("off", [BILLIONTH, -BILLIONTH])
@pytest.mark.parametrize("verify", VERIFIERS[:-1], ids=lambda each: each.__name__)
@given(data=st.data())
@pytest.mark.sampled(8)
def test_an_acceptance_off_by_a_billionth_is_bias(verify, off, data):
    # Rows of small whole weights, the proposal far from the target: acceptance is a real choice. The
    # one-hot rule is left out: where q is flat, what it accepts too often it also draws less often.
    size = data.draw(st.integers(2, 4))
    p, q = (weighted(data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))) for _ in "pq")
    assume(p != q)
    instance = Instance(Table(size, {(): p}), Table(size, {(): q}), Chain(1))
    report = judged(verify, off, instance)
    assert report.lossless is False, report
    assert float(report.case.bound) < float(report.total_variation) < 2 * BILLIONTH


@given(st.sampled_from(sorted(ROUNDOFF)), st.integers(2, 9), st.integers(1, 6))
def test_the_floor_grows_with_what_is_computed(dtype, vocab, depth):
    least = rounding_bound(dtype, vocab, depth)
    assert 0 < least < rounding_bound(dtype, vocab + 1, depth)
    assert least < rounding_bound(dtype, vocab, depth + 1)
    assert least < rounding_bound(dtype, vocab, depth, logits=True)
    assert rounding_bound(dtype, vocab, depth, rounds=3) == 3 * least
    assert float(rounding_bound("float64", vocab, depth)) < BILLIONTH / 1000


def test_the_shift_of_logits_is_the_one_that_the_bound_counts():
    # Added in the models of a loop and in the logits of functions, and bounded by the same constant.
    torch = pytest.importorskip("torch")
    from draftproof.simulators.audit.targets.batches import ByRoles
    from draftproof.simulators.audit.targets.models import Model
    from draftproof.simulators.audit.targets.readings import READINGS
    from draftproof.simulators.laws.enumerate import drafts

    toy = Instance(Table.exact(2, {(): ["1/3", "2/3"]}), Table.exact(2, {(): ["2/3", "1/3"]}), Chain(1))
    _, draft = next(drafts(toy))
    roles = [("target_logits", "p_logits", False), ("draft_probs", "q", False), ("drafts", "tokens", False)]
    target = ByRoles(lambda *_: [0], roles, "single", READINGS[0], tensors=False, dtype="float64")
    p, q, x = (each[None] for each in target.prepare(toy.target, draft))
    (logits, *_), _ = target.arguments({"p": p, "q": q, "tokens": x, "rng": None})
    model = Model(toy.target, torch.float64).row([]).numpy()
    for shifted in (logits[0], model):
        assert shifted - np.log([1 / 3, 2 / 3]) == pytest.approx(SHIFT, abs=1e-6)
    plain = rounding_bound("float32", 2, 1, logits=True)
    rounding = pytest.MonkeyPatch()
    rounding.setattr("draftproof.simulators.audit.rounding.SHIFT", SHIFT + 1)
    with rounding.context():
        assert rounding_bound("float32", 2, 1, logits=True) > plain
    rounding.undo()
    assert rounding_bound("float32", 2, 1, logits=True) == plain


def test_the_bound_of_a_small_instance_in_float64():
    assert float(rounding_bound("float64", 3, 2)) < 2e-14
