"""Selection rules with verifiers: the table of docs/selection.md, exactly."""

from itertools import product

import pytest
from flint import fmpq

from draftproof.simulators.instances.batches import SIZES, WITNESSES, Batches, standard_batches, witness
from draftproof.simulators.laws.enumerate import drafts
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.batches import Emitted, batch_law, judge_batch, must_verify
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law, law_of
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.verifiers import VERIFIERS
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")
PREDICTABLE = [rule for rule in RULES.values() if rule.predictable]
FIT = [each for each in VERIFIERS.values() if "chain" in each.drafts and each.carry is None]
ORDINARY = ("nss", "one-hot", "sampling-match")
"""Verifiers that draw the target's token whatever was drafted: no selection can bias them."""


def slowly(batch, rule):
    """The joint law of completed words, run by run, without the tensors of `judge_batch`."""
    joint: dict = {}
    emitted = [Emitted(request, rule) for request in batch.requests]
    drawn = [[(mass, draft.path[-1].prefix) for mass, draft in drafts(r)] for r in batch.requests]
    for each in product(*drawn):
        weight = fmpq(1)
        for mass, _ in each:
            weight *= mass
        shown = batch.select([tokens for _, tokens in each])
        laws = [
            emitted[r][one].law.complete(batch.requests[r].target, batch.requests[r].draft.depth + 1)
            for r, one in enumerate(shown)
        ]
        for words in product(*(law.items() for law in laws)):
            mass, key = weight, tuple(word for word, _ in words)
            for _, share in words:
                mass *= share
            joint[key] = joint.get(key, 0) + mass
    return joint


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.name)
def test_the_joint_law_run_by_run(rule):
    for batch in Batches(rule, 2, 2, 2, 3, 6):
        joint = slowly(batch, TOKEN)
        p = [law_of(request.target, 3) for request in batch.requests]
        words = joint.keys() | set(product(*p))
        off = sum(abs(joint.get((a, b), 0) - p[0][a] * p[1][b]) for a, b in words) / 2
        verdict = judge_batch(batch, TOKEN)
        assert verdict.total_variation == off
        assert verdict.lossless == (off == 0)
        assert sum(batch_law(batch, TOKEN).values()) == 1


def test_alone_and_with_everything_kept_a_request_is_an_instance():
    for rule in (TOKEN, verifier("block"), verifier("hsd-released")):
        for batch in Batches(named("all"), 2, 2, 1, 2, 6):
            alone, beside = judge(batch.requests[0], rule), judge_batch(batch, rule)
            assert beside.total_variation == alone.total_variation
            assert beside.expected_accepted == alone.expected_accepted
            assert beside.lossless == alone.lossless


@pytest.mark.parametrize("rule", PREDICTABLE, ids=lambda rule: rule.name)
def test_predictable_rules_keep_the_law_of_every_valid_verifier(rule):
    for batch in (*Batches(rule, 2, 2, 2, 3, 4), *Batches(rule, 3, 1, 2, 1, 3), witness("tetris", rule)):
        for each in FIT:
            if each.lossless:
                assert judge_batch(batch, each).lossless, each.name


def test_tetris_is_biased_with_every_verifier_that_judges_the_draft():
    for each in FIT:
        if each.lossless:
            assert judge_batch(witness("tetris"), each).lossless == (each.name in ORDINARY), each.name


def test_tetris_on_the_witness():
    verdict = judge_batch(witness("tetris"), TOKEN)
    assert (verdict.total_variation, verdict.marginals) == (fmpq(1, 6), (0, fmpq(1, 6)))
    assert (verdict.wrong.prefix, verdict.wrong.got, verdict.wrong.want) == (
        ((), (0,)),
        fmpq(1, 3),
        fmpq(1, 2),
    )


def test_the_instance_of_dspark_s_appendix():
    batch = witness("dspark-retrospective")
    verdict = judge_batch(batch, TOKEN)
    assert verdict.wrong.prefix == ((0,),)
    assert (verdict.wrong.got, verdict.wrong.want) == (fmpq(17, 20), fmpq(7, 10))
    assert judge_batch(witness("dspark-retrospective", named("dspark")), TOKEN).lossless
    assert judge_batch(witness("dspark-retrospective", named("lagged")), TOKEN).lossless


@pytest.mark.parametrize("size", [(2, 1, 2, 1, 24), (2, 2, 2, 3, 24), (3, 2, 2, 3, 12), (2, 2, 3, 3, 9)])
def test_repaired_tetris_accepts_exactly_as_much(size):
    biased = 0
    pairs = zip(Batches(named("tetris"), *size), Batches(named("tetris-repaired"), *size), strict=True)
    for released, repaired in pairs:
        a, b = judge_batch(released, TOKEN), judge_batch(repaired, TOKEN)
        assert a.expected_accepted == b.expected_accepted
        assert set(b.marginals) == {0}
        assert b.lossless
        biased += not a.lossless
    assert biased


def test_block_verification_accepts_otherwise_with_the_judged_token():
    """More or fewer: it judges the kept tokens by the one that is only judged as well."""
    pairs = zip(
        Batches(named("tetris"), 2, 2, 2, 2, 24),
        Batches(named("tetris-repaired"), 2, 2, 2, 2, 24),
        strict=True,
    )
    block = verifier("block")
    more = [
        judge_batch(repaired, block).expected_accepted - judge_batch(tetris, block).expected_accepted
        for tetris, repaired in pairs
    ]
    assert min(more) < 0 < max(more)


def test_repaired_tetris_emits_blocks_of_the_same_lengths():
    for released in Batches(named("tetris"), 2, 2, 2, 2, 12):
        repaired = Batch(released.requests, named("tetris-repaired"), released.capacity, released.speed)
        a, b = (
            Law(((len(x), len(y)), mass) for (x, y), mass in batch_law(each, TOKEN).items())
            for each in (released, repaired)
        )
        assert a == b


def test_every_lossy_rule_has_a_witness():
    assert set(WITNESSES) == {rule.name for rule in RULES.values() if not rule.predictable}
    assert not any(judge_batch(witness(name), TOKEN).lossless for name in WITNESSES)


def test_the_suite_has_every_size_and_160_batches_for_each_rule():
    families = list(standard_batches())
    assert sum(map(len, families)) == 160 * len(RULES)
    assert {(vocab, depth, R) for vocab, depth, R, *_ in SIZES} >= {
        (2, 2, 2),
        (2, 3, 2),
        (2, 2, 3),
        (3, 2, 2),
    }
    assert {family[0].rule for family in families} == set(RULES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tetris", "tetris-repaired", "dspark"])
def test_three_requests_of_three_tokens_each(name):
    for batch in Batches(named(name), 3, 3, 3, 3, 2):
        assert judge_batch(batch, TOKEN).lossless == named(name).predictable


def test_verifiers_that_a_batch_cannot_use():
    with pytest.raises(BadInput, match="spechub is made for spechub, not for a batch of chains"):
        must_verify(verifier("spechub"))
    with pytest.raises(BadInput, match="greedy-block keeps state between calls"):
        must_verify(verifier("greedy-block"))


def test_requests_may_differ():
    """A vocabulary and a depth of its own for each request."""
    (two,) = Batches(named("tetris"), 2, 1, 1, 1, 1)[0].requests
    (three,) = Batches(named("tetris"), 3, 2, 1, 1, 1)[0].requests
    assert (two.draft, three.draft) == (Chain(1), Chain(2))
    for rule in PREDICTABLE:
        assert judge_batch(Batch((two, three), rule, 2), TOKEN).lossless


def test_a_forbidden_token_is_not_an_absent_one():
    """Refilled from p as if nothing had been drawn, token 0 comes out with 3/4; else with 1/2."""
    verdict = judge_batch(witness("drop-forbidden"), TOKEN)
    assert (verdict.wrong.prefix, verdict.wrong.got, verdict.wrong.want) == (((0,),), fmpq(3, 4), fmpq(1, 2))
    assert judge_batch(witness("drop-forbidden", named("all")), TOKEN).lossless
