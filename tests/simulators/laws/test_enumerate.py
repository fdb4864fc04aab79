import sys
from dataclasses import replace

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.laws.enumerate import FRAMES, Enumerator, Invalid, emission, iteration, outcomes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.verifiers import named
from tests.checks import bracketed, drafts, joint
from tests.problems import TOY
from tests.strategies import instances, rows

HALF, THIRD = exact("1/2"), exact("1/3")

programs = st.recursive(st.none(), lambda below: st.tuples(rows(2), st.tuples(below, below)), max_leaves=12)
"""Trees of choices: a leaf, or a row over two tokens and what follows each."""


def run(program, oracle, accepting=False):
    taken = []
    while program is not None:
        row, below = program
        token = int(not oracle.accept(row[0])) if accepting else oracle.choose(row)
        taken.append(token)
        program = below[token]
    return tuple(taken)


def expected(program, weight=ONE, taken=()):
    if program is None:
        return [(weight, taken)]
    row, below = program
    return [
        found
        for token, mass in enumerate(row)
        if mass > 0
        for found in expected(below[token], weight * mass, (*taken, token))
    ]


@given(programs, st.booleans())
def test_every_possible_run_comes_once_in_order_with_its_weight(program, accepting):
    """Choices come by token id, acceptance before rejection, depth first; nothing impossible at all."""
    assert list(outcomes(lambda oracle: run(program, oracle, accepting))) == expected(program)


@given(programs, rows(2).map(lambda row: row[0]).filter(bool))
def test_weights_add_up_to_the_start(program, start):
    assert sum(weight for weight, _ in outcomes(lambda oracle: run(program, oracle), start)) == start


def test_without_choices_there_is_one_run():
    assert list(outcomes(lambda oracle: "done", HALF)) == [(HALF, "done")]


def test_branches_of_probability_zero_are_never_entered():
    entered = []

    def program(oracle):
        token = oracle.choose((ZERO, HALF, ZERO, HALF))
        sure, never = oracle.accept(ONE), oracle.accept(ZERO)
        entered.append((token, sure, never))

    list(outcomes(program))
    assert entered == [(1, True, False), (3, True, False)]


def test_a_ratio_above_one_is_certain():
    assert list(outcomes(lambda oracle: oracle.accept(exact(1)))) == [(ONE, True)]


@pytest.mark.parametrize(
    "program",
    [
        lambda oracle: oracle.choose((0.5, 0.5)),
        lambda oracle: oracle.choose((HALF, 0.5)),
        lambda oracle: oracle.accept(0.5),
        lambda oracle: oracle.accept(1.0),
        lambda oracle: oracle.accept(0.0),
        lambda oracle: (oracle.accept(HALF), oracle.accept(float(1))),
    ],
)
def test_an_exact_enumeration_refuses_floats(program):
    with pytest.raises(TypeError):
        list(outcomes(program))


@pytest.mark.parametrize(
    "program",
    [
        lambda oracle: oracle.choose((arb(0.5), arb(0.5))),
        lambda oracle: oracle.choose((HALF, arb(0.5))),
        lambda oracle: oracle.accept(arb(0.5)),
    ],
)
def test_an_exact_enumeration_refuses_balls_which_would_mix(program):
    with pytest.raises(TypeError, match="a weight of type arb in an enumeration of fmpq"):
        list(outcomes(program))


def test_a_float_enumeration_refuses_exact_numbers():
    with pytest.raises(TypeError):
        list(outcomes(lambda oracle: oracle.choose((HALF, HALF)), 1.0))
    assert list(outcomes(lambda oracle: oracle.choose((0.25, 0.75)), 1.0)) == [(0.25, 0), (0.75, 1)]


def test_nothing_can_be_drawn_from_a_row_without_mass():
    with pytest.raises(Invalid, match=r"drawn from, \(0, 0\), sums to 0, not 1"):
        list(outcomes(lambda oracle: oracle.choose((ZERO, ZERO))))


def test_the_weight_is_known_on_the_way():
    oracle = Enumerator(ONE)
    assert oracle.weight == 1
    oracle.choose((THIRD, 2 * THIRD))
    assert oracle.weight == THIRD
    oracle.accept(HALF)
    assert oracle.weight == THIRD / 2
    assert oracle.next()
    assert (oracle.choose(()), oracle.accept(None), oracle.weight) == (0, False, THIRD / 2)


@given(instances("tree without replacement"))
def test_every_draft_is_drawn_once_and_verified_in_every_way(instance):
    ways = list(
        iteration(instance.draft, instance.proposal, named("rrs"), instance.target, context=(1,), start=HALF)
    )
    assert sum(weight for weight, *_ in ways) == HALF
    drawn = {id(draft): draft for _, draft, *_ in ways}
    expected_drafts = [bracketed(draft) for _, draft in drafts(instance.draft, instance.proposal, (1,))]
    assert [bracketed(draft) for draft in drawn.values()] == expected_drafts
    assert all(node.prefix[0] == 1 and sum(row) == 1 for *_, node, row in ways)


def test_the_stops_of_an_emission_have_all_the_mass():
    gathered = emission(TOY, named("token"))
    assert sum(gathered.stopped.values()) == joint([]) == 1


def test_a_verifier_may_nest_calls_for_every_level():
    """More than Python allows by itself: 1,536 on a chain of 128."""

    def nested(calls):
        return nested(calls - 1) if calls else None

    def verify(oracle, draft, target):
        nested(FRAMES * 128)
        return draft.root, target[()]

    sure, limit = context_free([1, 0], [1, 0], Chain(128)), sys.getrecursionlimit()
    try:
        rule = replace(named("token"), verify=verify)
        ((weight, _, node, _),) = iteration(sure.draft, sure.proposal, rule, sure.target, start=ONE)
    finally:
        sys.setrecursionlimit(limit)
    assert (weight, node.prefix) == (1, ())


def test_a_fault_is_told_with_its_draft_and_the_answers_before_it():
    def verify(oracle, draft, target):
        oracle.accept(HALF)
        oracle.choose(target[()])
        return draft.root, (ONE, ONE)

    with pytest.raises(Invalid, match=r"^draft 0 0, coins accept token 0: the row returned, \(1, 1\), "):
        emission(TOY, replace(named("token"), verify=verify))


def test_what_no_rule_of_the_project_raises_by_its_rows_is_raised_as_it_is():
    def verify(oracle, draft, target):
        raise MemoryError("a slip")

    verify.__module__ = named("token").verify.__module__
    with pytest.raises(MemoryError, match="a slip"):
        emission(TOY, replace(named("token"), verify=verify))
