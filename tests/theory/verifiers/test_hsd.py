"""HSD: as its paper writes it, as released, and over several paths."""

from math import comb

from hypothesis import given

from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.verdict import Wrong, judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named
from tests.checks import (
    along,
    assert_lossless,
    assert_same_law,
    completed,
    emitted,
    joint,
    mean_accepted,
    stops,
)
from tests.problems import TOY
from tests.strategies import instances

PAPER, RELEASED, BLOCK = named("hsd"), named("hsd-released"), named("block")
MULTI, MULTI_RELEASED = named("hsd-multidraft"), named("hsd-multidraft-released")


@given(instances("chain"))
def test_as_written_it_is_block_verification(instance):
    assert_same_law(instance, PAPER, BLOCK)


@given(instances(Chain(3), vocab=2))
def test_as_written_it_is_block_verification_deeper_too(instance):
    assert_same_law(instance, PAPER, BLOCK)


@given(instances(Chain(1)))
def test_one_drafted_token_is_token_verification_even_as_released(instance):
    for verifier in (PAPER, RELEASED, MULTI, MULTI_RELEASED):
        assert_same_law(instance, verifier, named("token"))


@given(instances("chain"))
def test_several_paths_reduce_to_one(instance):
    assert_same_law(instance, MULTI, PAPER)
    assert_same_law(instance, MULTI_RELEASED, RELEASED)


def test_released_loses_the_law_of_two_tokens_on_the_toy():
    got, want = completed(TOY, RELEASED)
    ninths = {(0, 0): 1, (0, 1): 2, (1, 0): 3, (1, 1): 3}
    assert got.marginal(2) == Law({word: exact(f"{n}/9") for word, n in ninths.items()})
    assert got.marginal(1) == want.marginal(1)  # the first token alone shows nothing
    assert judge(TOY, RELEASED).total_variation == exact("1/9")


def test_released_accepts_more_than_is_possible():
    assert mean_accepted(TOY, RELEASED) == exact("12/9")
    assert mean_accepted(TOY, BLOCK) == mean_accepted(TOY, PAPER) == exact("11/9")


@given(instances(Paths(3, 2), vocab=2))
def test_corrected_it_is_lossless_on_several_paths(instance):
    assert_lossless(instance, MULTI)


@given(instances(Paths(3, 2), vocab=2))
def test_corrected_each_later_path_is_a_fresh_block_below_the_accepted_prefix(instance):
    assert mean_accepted(instance, MULTI) == fresh_blocks(instance, (), instance.target[()], 3)


def fresh_blocks(instance, prefix, row, paths):
    """E[tau] with some paths left that share a prefix, where `row` is what the target still owes."""
    depth = instance.draft.depth
    if not paths or len(prefix) == depth:
        return len(prefix)
    target = Table(instance.vocab, {**dict(instance.target.given()), prefix: row})
    block = Instance(target, instance.proposal, Chain(depth - len(prefix)))
    mean = ZERO
    for weight, _, node, residual in stops(block, BLOCK, prefix):
        same = joint(q for _, q in along(instance, node.prefix)[len(prefix) :])  # another path passes here
        for left in range(paths):
            share = comb(paths - 1, left) * same**left * (1 - same) ** (paths - 1 - left)
            mean += weight * share * fresh_blocks(instance, node.prefix, residual, left)
    return mean


def test_released_on_several_paths_has_a_named_witness():
    toy = scenario("toy", Paths(2, 2))
    verdict = judge(toy, MULTI_RELEASED)
    assert verdict.wrong.prefix == (1, 0)
    assert verdict.total_variation > 0
    assert judge(toy, MULTI).lossless


def test_a_carried_ratio_alone_loses_the_law():
    """After 0 all is owed to 0 and 1, and most drafts are 2: a second path is rejected at ratio 1/2.

    Below 1 and 2 the models agree and below 0 the ratio only falls, so the uncapped leaf does no harm here.
    """
    agree = {(1,): [1, 0, 0], (2,): [1, 0, 0]}
    target = Table.exact(3, {(): ["1/4", "1/4", "1/2"], (0,): ["1/3", "2/3", 0], **agree})
    proposal = Table.exact(3, {(): ["1/2", "1/4", "1/4"], (0,): ["1/10", "1/10", "4/5"], **agree})
    instance = Instance(target, proposal, Paths(2, 2))
    verdict = judge(instance, MULTI_RELEASED)
    assert verdict.wrong == Wrong((0, 0), exact("11/144"), exact("1/12"))
    assert verdict.total_variation == exact("1/144")
    assert judge(Instance(target, proposal, Chain(2)), RELEASED).lossless
    assert_lossless(instance, MULTI)


@given(instances("paths"))
def test_more_paths_never_accept_less_than_their_first(instance):
    alone = Instance(instance.target, instance.proposal, Chain(instance.draft.depth))
    assert mean_accepted(instance, MULTI) >= mean_accepted(alone, PAPER)


def test_a_second_path_helps():
    toy = scenario("toy", Paths(2, 2))
    assert mean_accepted(toy, MULTI) > mean_accepted(TOY, PAPER)
    assert emitted(toy, MULTI) != emitted(toy, MULTI_RELEASED)
