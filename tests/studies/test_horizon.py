"""The horizon optimum: exact bounds on both sides, block verification without memory, tokens that merge."""

import doctest
from dataclasses import replace
from random import Random

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Logits, Randoms
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.law import law_of
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.verifiers import named
from studies import fewest_calls as fewest_calls_
from studies import horizon
from studies.fewest_calls import Bounds, Call, Program, fewest_calls, rounded
from studies.horizon import Calls, drafts, fewest, merged_tokens
from tests.problems import TOY

BLOCK, GREEDY = named("block"), named("greedy-block")


def toy(depth):
    return Instance(TOY.target, TOY.proposal, Chain(depth))


def test_nine_tokens_on_the_toy():
    best = fewest(toy(2), 9)
    assert best.error < 1e-8
    assert round(float(best.lower), 4) == 4.2088
    needed = {name: Calls(toy(2), named(name)).expected(9) for name in ("token", "block", "greedy-block")}
    assert {name: round(float(calls), 3) for name, calls in needed.items()} == {
        "token": 4.603,
        "block": 4.384,
        "greedy-block": 4.525,
    }


def test_it_bounds_verifiers_with_state_too():
    for depth in (1, 2):
        for instance in Randoms(Chain(depth), 2, 2, law=Logits()):
            best = fewest_calls(instance.target, drafts(instance), 4)
            assert best.error < 1e-6
            for verifier in (BLOCK, GREEDY):
                assert Calls(instance, verifier).expected(4) >= best.lower


def test_any_prices_bound_the_calls_from_below():
    random = Random(1)
    instance = Randoms(Chain(2), 2, 1)[0]
    program = Program(instance.target, drafts(instance), 4)
    best = program.lower()
    for _ in range(20):
        for prices in program.price.values():
            for output in prices:
                prices[output] += rounded(random.gauss(0, 0.2))
        assert program.lower() <= best + fmpq(1, 10**9)


def test_the_rule_is_exactly_lossless_and_stays_so_where_the_solution_is_wrong():
    instance = Randoms(Chain(2), 2, 1, law=Logits())[0]
    program = Program(instance.target, drafts(instance), 4)
    best = program.rule()[0]
    program.x = program.x * 0.9  # no longer a solution
    calls, exits = program.rule()
    assert exits == dict(law_of(instance.target, 4))
    assert calls > best > program.lower() - fmpq(1, 10**9)


def cheapest(self, price):
    pairs = zip(self.masses, self.outputs, strict=True)
    return sum((mass * min(price[o] for o in outputs) for mass, outputs in pairs), ZERO)


def shortened(self, rule=Program.rule):
    calls, ends = rule(self)
    return calls - fmpq(1, 10), dict(list(ends.items())[1:])


BROKEN = {
    "prices of the worst outputs": (Call, "collected", cheapest),
    "a changed lower value": (Program, "lower", lambda self: self.rule()[0] + fmpq(1, 10**9)),
    "a rule that loses a word": (Program, "rule", shortened),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_certificates_are_refused(fault, monkeypatch):
    monkeypatch.setattr(*BROKEN[fault])
    with pytest.raises(AssertionError, match=r"contradict|not lossless"):
        fewest_calls(TOY.target, drafts(toy(2)), 5)


def test_a_wrong_dual_certifies_less_and_no_value_beyond_the_bounds_is_certified():
    found = fewest_calls(TOY.target, drafts(toy(2)), 5)
    program = Program(TOY.target, drafts(toy(2)), 5)
    program.price[()] = dict.fromkeys(program.price[()], ZERO)
    assert program.lower() < found.lower - fmpq(1, 100)
    for lower, upper in ((fmpq(1, 10**6), 0), (0, -fmpq(1, 10**6))):
        with pytest.raises(AssertionError, match="contradict"):
            Bounds(found.lower + lower, found.upper + upper)


def test_a_lossy_rule_needs_fewer_calls_than_the_optimum():
    best = fewest_calls(TOY.target, drafts(toy(2)), 6)
    assert Calls(toy(2), named("hsd-released")).expected(6) < best.lower


@pytest.mark.parametrize("draft", [Chain(2), Paths(2, 1), Tree((((),), ()), replacement=True)])
def test_merged_tokens_have_the_same_optimum(draft):
    instance = context_free(["1/2", "1/3", "1/6"], ["1/4", "1/2", "1/4"], draft)
    small = merged_tokens(instance)
    assert small.vocab == 2
    whole, merged = (fewest_calls(each.target, drafts(each), 3) for each in (instance, small))
    assert max(whole.lower, merged.lower) <= min(whole.upper, merged.upper)


def test_tokens_with_other_rows_or_drawn_without_replacement_do_not_merge():
    p, q = ["1/2", "1/3", "1/6"], ["1/4", "1/2", "1/4"]
    without = context_free(p, q, Tree(((), ()), replacement=False))
    assert merged_tokens(without) is without
    unequal = context_free(p, ["1/4", "1/4", "1/2"], Chain(1))
    assert merged_tokens(unequal) is unequal


def test_one_call_and_a_perfect_drafter():
    assert fewest_calls(TOY.target, drafts(toy(1)), 1).upper == ONE
    same = replace(toy(2), proposal=TOY.target)
    assert abs(float(fewest_calls(same.target, drafts(same), 6).upper) - 2) < 1e-8


@pytest.mark.parametrize("module", [fewest_calls_, horizon])
def test_examples_hold(module):
    failed, tried = doctest.testmod(module)
    assert failed == 0 < tried
