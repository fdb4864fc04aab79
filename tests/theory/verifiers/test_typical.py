"""Typical acceptance: lossy by design, and decided exactly."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named, typical
from tests.checks import drafts
from tests.strategies import rows

TYPICAL = named("typical")
uneven = st.lists(st.integers(0, 400), min_size=2, max_size=9).filter(any)
uneven_rows = uneven.map(lambda weights: tuple(exact(f"{w}/{sum(weights)}") for w in weights))


def decided_by_decimals(p, x):
    """p(x) > min(0.09, 0.3 exp(-H(p))) in 60 digits."""
    with localcontext(prec=60):
        masses = [Decimal(int(a.p)) / Decimal(int(a.q)) for a in p]
        entropy = -sum(a * a.ln() for a in masses if a)
        return masses[x] > min(Decimal("0.09"), Decimal("0.3") * (-entropy).exp())


@given(uneven_rows | rows(3))
def test_the_threshold_is_that_of_many_digits(p):
    assert [typical.is_typical(p, x) for x in range(len(p))] == [
        decided_by_decimals(p, x) for x in range(len(p))
    ]


@given(st.integers(2, 30))
def test_a_uniform_row_is_typical_throughout(size):
    p = (exact(f"1/{size}"),) * size
    assert typical.is_typical(p, 0)  # 1/n > 0.3/n


def test_the_hard_threshold_is_strict():
    p = (exact("9/100"), exact("91/100"))
    assert not typical.is_typical(p, 0)  # 0.09 is not above min(0.09, ...), which the entropy leaves at 0.09
    assert typical.is_typical((exact("0.0901"), exact("0.9099")), 0)


@pytest.mark.parametrize(
    ("delta", "expected"), [("1", False), ("99999/100000", True), ("100001/100000", False)]
)
def test_ties_are_decided_by_whole_numbers(monkeypatch, delta, expected):
    monkeypatch.setattr(typical, "EPSILON", exact(1))
    monkeypatch.setattr(typical, "DELTA", exact(delta))
    assert (
        typical.is_typical((exact("1/4"),) * 4, 0) is expected
    )  # exp(-H) = 1/4 = p(x), and the rule is strict


def test_a_hair_above_a_tie_is_told_apart(monkeypatch):
    monkeypatch.setattr(typical, "EPSILON", exact(1))
    for nudge, expected in (("1e-400", True), ("-1e-400", False)):
        monkeypatch.setattr(typical, "DELTA", 1 - exact(nudge))
        assert typical.is_typical((exact("1/4"),) * 4, 0) is expected


def test_tokens_of_probability_zero_are_never_accepted():
    assert not typical.is_typical((exact(0), exact(1)), 0)
    assert not typical.is_typical((0.0, 1.0), 0)


@given(rows(3))
def test_floats_decide_alike(p):
    floats = tuple(int(a.p) / int(a.q) for a in p)
    assert [typical.is_typical(floats, x) for x in range(3)] == [typical.is_typical(p, x) for x in range(3)]


class NoCoins:
    """An oracle that must not be asked."""


@given(rows(3), rows(3))
def test_no_coin_is_tossed(p, q):
    instance = context_free(p, q, Chain(2))
    for _, draft in drafts(instance.draft, instance.proposal):
        node, row = TYPICAL.verify(NoCoins(), draft, instance.target)
        assert row is instance.target[node.prefix]
        kept = [typical.is_typical(p, x) for x in draft.path[-1].prefix]
        assert len(node.prefix) == (2 if all(kept) else kept.index(False))


def test_the_longest_accepted_path_is_kept_then_the_likeliest():
    p = {(): ["1/2", "1/2", 0], (0,): ["4/5", "1/5", 0], (1,): ["9/10", "1/10", 0]}
    wide = context_free(["1/3"] * 3, ["1/3"] * 3, TopK((((),), ((),))))
    target = type(wide.target).exact(3, p)
    [(_, draft)] = drafts(wide.draft, wide.proposal)
    stop, _ = TYPICAL.verify(NoCoins(), draft, target)
    assert stop.prefix == (1, 0)  # 9/20 against 8/20 for (0, 0)


@pytest.mark.parametrize("draft", [Chain(1), Chain(2), TopK(((), ()))])
def test_it_is_lossy(draft):
    verdict = judge(scenario("toy", draft), TYPICAL)
    assert not verdict.lossless
    assert verdict.declared is False
