"""Two siblings levelled: no rule keeps more of them, and the lift is lossless."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import instances, rows
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.rows import total
from draftproof.theory.shared.strata import strata
from draftproof.theory.transport.single_step import alpha, max_flow
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.lifted_levelled import levelled, levels
from draftproof.theory.verifiers.shared import priority
from draftproof.theory.verifiers.shared.priority import token_by_token
from tests.checks import assert_lossless, assert_same_law, is_lossy, mean_accepted

VERIFIER = named("lifted-levelled")


def kept(t, laws):
    return ONE - total(levelled(t, *laws).left)


def most(p, laws):
    """The largest flow from drawn pairs to their tokens: what no rule exceeds."""
    draws = {}
    for x, mass in enumerate(laws[0]):
        for y, other in enumerate(laws[1]):
            if mass * other > 0:
                pair = frozenset((x, y))
                draws[pair] = draws.get(pair, ZERO) + mass * other
    return sum((mass for each in max_flow(draws, p).values() for mass in each.values()), ZERO)


@given(rows(4), rows(4))
def test_two_iid_siblings_reach_alpha(p, q):
    assert kept(p, (q, q)) == alpha(p, q, 2, True)[0]


@given(rows(5), rows(5))
def test_two_strata_reach_their_largest_flow(p, q):
    laws = strata(q, 2)
    if len(laws) < 2:
        return
    best = most(p, laws)
    assert kept(p, laws) <= best
    if all(not (a > 0 and b > 0) for a, b in zip(*laws, strict=True)):
        assert kept(p, laws) == best


def test_it_reaches_the_optimum_where_the_priority_rule_does_not():
    laws = strata((exact("1/4"),) * 4, 2)
    p = (exact("3/8"), exact("1/8"), exact("3/8"), exact("1/8"))
    assert most(p, laws) == kept(p, laws) > ONE - total(token_by_token(p, laws).left)


@given(instances("chain"))
def test_chains_are_verified_as_blocks(instance):
    assert_same_law(instance, VERIFIER, named("block"))


@pytest.mark.parametrize("shape", [every(2, 2), ((), ((),)), (((), ()), ())], ids=str)
@pytest.mark.parametrize("kind", [Stratified, lambda shape: Tree(shape, True)], ids=["strata", "iid"])
@settings(max_examples=5)
@given(data=st.data())
def test_it_is_lossless(kind, shape, data):
    assert_lossless(data.draw(instances(kind(shape), vocab=2 if len(shape[0]) == 2 else 3)), VERIFIER)


@given(data=st.data())
@settings(max_examples=10)
def test_three_siblings_are_judged_by_the_priority_rule(data):
    instance = data.draw(instances(Stratified(every(3, 1)), vocab=4))
    assert mean_accepted(instance, VERIFIER) == mean_accepted(instance, named("lifted-priority"))


def test_siblings_that_are_not_independent_are_not_for_it():
    assert is_lossy(context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ()))), VERIFIER)


@given(rows(4), rows(4), st.integers(1, 8), st.integers(0, 8))
def test_levels_have_the_mean_that_is_needed_and_take_most_where_most_is_left(slack, weight, most, need):
    """And where less than everything is taken of one place, what is left there is not more than elsewhere."""
    places = {y: slack[y] for y in range(4) if weight[y] > 0}
    most, need = exact(most) / 8, exact(need) / 8
    found = levels(places, weight, most, need)
    assert sum((weight[y] * part for y, part in found.items()), ZERO) == need
    rest = {y: places[y] - most * found[y] for y in places}
    for y in places:
        assert 0 <= found[y] <= 1
        assert all(rest[y] <= rest[z] or found[y] == 1 or found[z] == 0 for z in places)


def test_the_priority_rule_is_what_other_counts_get(monkeypatch):
    monkeypatch.setattr(priority, "planned", None)
    with pytest.raises(TypeError):
        mean_accepted(context_free(["1/2", "1/2"], ["1/4", "3/4"], Stratified(((),))), VERIFIER)
