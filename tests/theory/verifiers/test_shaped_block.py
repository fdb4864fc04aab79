"""Shaped block verification: block verification in its first call, ahead of it in later ones."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from draftproof.proofs_check.prove import prove
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import add, scale
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared import leaf_shaping
from tests.checks import assert_lossless, assert_same_law, mean_accepted
from tests.problems import TOY
from tests.strategies import instances

SHAPED, BLOCK = named("shaped-block"), named("block")


@given(instances("chain"))
def test_the_first_call_accepts_what_block_verification_does(instance):
    assert mean_accepted(instance, SHAPED) == mean_accepted(instance, BLOCK)


@settings(max_examples=8)
@given(instance=instances(Chain(3), vocab=2))
def test_three_calls_of_any_chain(instance):
    assert_lossless(instance, SHAPED, 3)


@pytest.mark.parametrize(("depth", "vocab", "calls"), [(1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 3, 2), (3, 2, 2)])
def test_scenarios_and_random_rows_over_several_calls(depth, vocab, calls):
    for instance in (*Scenarios(Chain(depth), vocab), *Randoms(Chain(depth), vocab, 110)):
        assert_lossless(instance, SHAPED, calls)


@given(instances(Chain(2)))
def test_both_rows_after_a_word_give_back_the_targets(instance):
    p, q = instance.target[(0, 0)], instance.proposal[(0, 0)]
    for k in map(exact, ("0", "1/7", "1/2", "1")):
        bonus, later = leaf_shaping.shaped(k, p, q)
        assert sum(bonus) == sum(later) == ONE
        assert add(scale(k, bonus), scale(1 - k, later)) == p


def test_tokens_of_each_call_on_the_toy():
    # The long-run rates are 7/4 at gamma = 1, where block verification has 5/3, and above 2.28 at gamma = 2.
    one = decode(TOY_OF[1], SHAPED, 4).accepted
    assert one == (exact("2/3"), exact("7/9"), exact("20/27"), exact("61/81"))
    two = decode(TOY_OF[2], SHAPED, 3).accepted
    assert two[0] == exact("11/9")
    assert two[2] > exact("1.28")


TOY_OF = {depth: Instance(TOY.target, TOY.proposal, Chain(depth)) for depth in (1, 2)}


def test_without_a_row_at_the_leaf_it_is_block_verification():
    rows = {(): ["2/3", "1/3"], (0,): ["1/2", "1/2"], (1,): ["1/4", "3/4"]}

    class Missing:
        vocab = 2
        table = Table.exact(2, rows)

        def __getitem__(self, prefix):
            return self.table[prefix] if len(prefix) < 2 else Table.exact(2, {(0,) * 9: [1, 0]})[prefix]

    instance = Instance(TOY.target, Table.exact(2, rows), Chain(2))
    bare = replace(instance)
    object.__setattr__(bare, "proposal", Missing())
    assert_same_law(bare, replace(SHAPED, carry=None), BLOCK)


@given(instances(Chain(2)))
def test_any_row_at_the_leaf_is_lossless_and_one_without_mass_is_block_verification(instance):
    p, q = instance.target[(0, 0)], instance.proposal[(0, 0)]
    k = exact("1/2")
    assert leaf_shaping.shaped(k, p, scale(exact("7/3"), q)) == leaf_shaping.shaped(k, p, q)
    assert leaf_shaping.shaped(k, p, scale(exact(0), q)) == (p, p) == leaf_shaping.shaped(k, p, None)


def too_early(target, proposal, draft, stop):
    """`carry` with the row shaped before the last drafted token."""
    end = len(draft.path[-2].prefix)
    return leaf_shaping.Shaped(target, proposal, 0, end) if len(stop.prefix) < end else target


BROKEN = {
    "no memory": {"carry": None},
    "the bonus row is p": {"verify": BLOCK.verify},
    "the draft's end one token too early": {"carry": too_early},
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_versions_are_lossy_and_refuted(name):
    broken = replace(SHAPED, **BROKEN[name])
    found = [judge(each, broken, 3).lossless for each in (TOY_OF[1], TOY_OF[2], *Randoms(Chain(2), 2, 6))]
    assert not all(found)


def test_it_is_proved_for_all_p_and_q_of_a_size():
    proof = prove(SHAPED, Chain(1), vocab=2)
    assert proof.verdict == "proved"
    assert proof.parameters == 6  # the proposal's rows at the leaves among them
    assert prove(replace(SHAPED, carry=None), Chain(1), vocab=2).verdict == "refuted"
    assert prove(replace(SHAPED, verify=BLOCK.verify), Chain(1), vocab=2).verdict == "refuted"
