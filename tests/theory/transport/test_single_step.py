"""Single-step transport: subset formula, LP, max flow, canonical decomposition, Global Resolution."""

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import meet, total
from draftproof.theory.shared.strata import rest_and_top
from draftproof.theory.transport.certificate import certified
from draftproof.theory.transport.resolution import resolve
from draftproof.theory.transport.siblings import independent_law, set_law
from draftproof.theory.transport.single_step import (
    alpha,
    canonical,
    emitted,
    inclusion_bound,
    max_flow,
    optimal_rule,
    problem,
    subset_formula,
)
from draftproof.theory.verifiers.shared.priority import included
from tests.checks import holds
from tests.theory.transport.rows import pairs, rows
from tests.theory.transport.solvers import linear_program

P, Q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))


@given(pairs(), st.integers(1, 3), st.booleans())
def test_every_way_to_alpha(pq, k: int, replacement: bool) -> None:
    p, q = pq
    draws = set_law(q, k, replacement)
    best, H = alpha(p, q, k, replacement)
    drawn = sum((mass for t, mass in draws.items() if t <= set(H)), fmpq(0))
    assert best == subset_formula(p, draws) == 1 + sum((p[x] for x in H), fmpq(0)) - drawn
    assert abs(linear_program(p, draws) - float(best)) < 1e-9
    transport = certified(problem(p, draws))
    assert holds(transport)
    assert transport.value == best
    rule = optimal_rule(p, q, k, replacement)
    assert total(emitted(rule.plan, p)) == best
    for t, kept in rule.plan.items():
        assert set(kept) <= t
        assert sum(kept.values(), fmpq(0)) <= draws[t]
    selection = canonical(p, q, k, replacement)
    assert all(sum(weights, fmpq(0)) == 1 for weights in selection.weights.values())
    assert total(selection.law) == 1
    assert total(meet(p, selection.law)) == best


@given(pairs(), st.integers(1, 3))
def test_hu_greedy_is_the_optimum_of_its_draft(pq, n: int) -> None:
    p, q = pq
    siblings = rest_and_top(q, n)
    assert inclusion_bound(p, included(siblings)) == certified(problem(p, independent_law(siblings))).value


@given(pairs(), st.integers(1, 3))
def test_global_resolution_reaches_alpha(pq, k: int) -> None:
    p, q = pq
    found = resolve(p, q, k)
    best, _ = alpha(p, q, k, replacement=True)
    assert 0 <= float(best - total(meet(p, found.law))) <= 1e-6
    assert total(found.law) == 1
    p_float = tuple(map(float, p))
    floats = resolve(p_float, tuple(map(float, q)), k)
    assert abs(float(best) - total(meet(p_float, floats.law))) <= 1e-6


@given(rows(4), st.integers(1, 3))
def test_draws_are_laws_of_sets(q, k: int) -> None:
    support = sum(mass > 0 for mass in q)
    for law in (set_law(q, k, True), set_law(q, k, False), independent_law(rest_and_top(q, k))):
        assert sum(law.values(), fmpq(0)) == 1
    assert all(len(t) == min(k, support) for t in set_law(q, k, False))


@given(pairs(), st.integers(1, 2))
def test_more_drafts_accept_no_less(pq, k: int) -> None:
    p, q = pq
    assert alpha(p, q, k, True)[0] <= alpha(p, q, k + 1, True)[0]
    assert alpha(p, q, k, True)[0] <= alpha(p, q, k, False)[0]


def test_one_draft_accepts_what_p_and_q_share() -> None:
    assert alpha(P, Q, 1, True)[0] == alpha(P, Q, 1, False)[0] == total(meet(P, Q))


def test_floats_follow_the_same_code() -> None:
    p, q = tuple(map(float, P)), tuple(map(float, Q))
    assert alpha(p, q, 2, True)[0] == pytest.approx(8 / 9, abs=1e-15)
    assert total(emitted(max_flow(set_law(q, 2, True), p), p)) == pytest.approx(8 / 9, abs=1e-15)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(BadInput, match="without mass"):
        set_law((fmpq(0), fmpq(0)), 2, True)
    with pytest.raises(BadInput, match="without mass"):
        alpha(P, (fmpq(0), fmpq(0)), 2, True)
    with pytest.raises(BadInput, match="at least one token"):
        alpha(P, Q, 0, True)
    with pytest.raises(BadInput, match="sets of drafted tokens"):
        set_law((fmpq(1, 400),) * 400, 4, False)
