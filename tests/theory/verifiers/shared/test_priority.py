"""The plan of one node: valid in any order of the tokens, whatever classes they share."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.rows import add, total
from draftproof.theory.shared.strata import strata
from draftproof.theory.transport.siblings import independent_law
from draftproof.theory.transport.single_step import alpha, inclusion_bound, subset_formula
from draftproof.theory.verifiers.shared.priority import included, plan, token_by_token
from tests.strategies import rows

V = 4
ways = st.lists(st.integers(0, 2), min_size=V, max_size=V)
laws = st.one_of(
    st.tuples(rows(V), st.integers(1, 3)).map(lambda drawn: (drawn[0],) * drawn[1]),
    st.tuples(rows(V), st.integers(1, 3)).map(lambda drawn: strata(*drawn)),
    st.lists(rows(V), min_size=1, max_size=3).map(tuple),
)


def kept(found, laws):
    """Pr((x, j) is kept) of a plan, from its rates alone: the coins of all drawn pairs, in order."""
    out, unkept = {}, [ONE] * len(laws)
    judged = list(found.rate)
    for x, j in judged:
        out[x, j] = ZERO
    # A sibling is one token: enumerate every draw.
    for tokens in _draws(laws):
        chance = prod((R[x] for R, x in zip(laws, tokens, strict=True)), start=ONE)
        reach = ONE
        for x, j in judged:
            if tokens[j] == x:
                out[x, j] += chance * reach * found.rate[x, j]
                reach *= 1 - found.rate[x, j]
    del unkept
    return out


def _draws(laws):
    draws = [()]
    for R in laws:
        draws = [(*tokens, x) for tokens in draws for x, mass in enumerate(R) if mass > 0]
    return draws


@given(rows(V), laws, ways, st.permutations(range(3)))
def test_any_classes_in_any_order_take_what_the_plan_says_and_no_more_than_there_is(t, laws, way, order):
    classes = [[x for x in range(V) if way[x] == c] for c in order]
    found = plan(t, laws, classes)
    masses = kept(found, laws)
    taken = [sum((mass for (y, _), mass in masses.items() if y == x), ZERO) for x in range(V)]
    assert add(tuple(taken), found.left) == t
    assert min(found.left) >= 0
    assert all(0 <= rate <= 1 for rate in found.rate.values())


@given(rows(V), rows(V), st.integers(1, 3))
def test_no_more_than_alpha_star_is_kept_of_equal_rows(t, q, k):
    assert 1 - total(token_by_token(t, (q,) * k).left) <= alpha(t, q, k, True)[0]


@given(rows(V), laws)
def test_no_more_than_any_rule_can_is_kept_and_no_rule_exceeds_the_bound(t, laws):
    best = subset_formula(t, independent_law(laws))
    assert 1 - total(token_by_token(t, laws).left) <= best <= inclusion_bound(t, included(laws))


@given(rows(V), rows(V))
def test_one_child_is_kept_as_by_token_verification(t, q):
    found = token_by_token(t, (q,))
    assert {x: rate for (x, _), rate in found.rate.items()} == {
        x: min(t[x] / q[x], ONE) for x in range(V) if q[x] > 0
    }


@given(rows(2), rows(2), st.integers(1, 4))
def test_of_two_tokens_the_best_is_kept(t, q, k):
    assert 1 - total(token_by_token(t, (q,) * k).left) == alpha(t, q, k, True)[0]


def test_the_order_is_that_of_t_over_pi_ties_by_id():
    t, q = (exact("1/4"), exact("1/2"), exact("1/4")), (exact("1/3"),) * 3
    assert list(token_by_token(t, (q, q)).rate) == [(1, 0), (1, 1), (0, 0), (0, 1), (2, 0), (2, 1)]


def test_an_order_that_ignores_how_often_tokens_are_drafted_keeps_less():
    """The broken version: in order of ids, the token that is drafted too seldom comes last."""
    t, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    assert total(plan(t, (q, q), ((0,), (1,))).left) > total(token_by_token(t, (q, q)).left)
