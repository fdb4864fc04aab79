"""Systems whose parts are right: cascades, prepared drafts, HSD on EAGLE-3's trees."""

from dataclasses import replace
from itertools import product

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.instance import context_free
from draftproof.theory.law import law_of
from draftproof.theory.systems import hsd_eagle
from draftproof.theory.systems.cascade import cascade
from draftproof.theory.systems.prepared import ARGMAX_MATCH, Prepared
from draftproof.theory.verifiers import named
from tests.mutants.edits import edited

TOKEN, BLOCK = named("token"), named("block")
SCENES = [*Scenarios(Chain(2), 2), *Randoms(Chain(2), 3, 5)]


def middles(instances):
    """Each instance with the target of the next one of its vocabulary as a middle model."""
    for n, instance in enumerate(instances):
        other = instances[(n + 1) % len(instances)]
        if other.vocab == instance.vocab:
            yield instance, other.target


@pytest.mark.parametrize(("inner", "outer"), list(product((TOKEN, BLOCK), repeat=2)), ids=lambda v: v.name)
def test_a_cascade_of_lossless_levels_is_lossless(inner, outer):
    assert all(judge(i, cascade(m, inner, outer)).lossless for i, m in middles(SCENES))
    assert cascade(SCENES[0].target, inner, outer).lossless


def test_the_mistakes_of_the_inner_level_are_found():
    lossy = named("hsd-released")
    for wrong in ({"inner": TOKEN, "outer": TOKEN, "rows_of": "drafter"}, {"inner": lossy, "outer": TOKEN}):
        found = [judge(i, cascade(m, **wrong)) for i, m in middles(SCENES)]
        assert not all(each.lossless for each in found)
        assert not any(each.declared for each in found)


def test_a_middle_model_like_the_target_loses_nothing():
    """With middle = target the outer level accepts whatever the inner one emits."""
    for instance in SCENES:
        found = emission(instance, cascade(instance.target, TOKEN, TOKEN))
        inner = emission(instance, TOKEN)
        assert found.expected_accepted == inner.expected_accepted + 1
        assert found.total_variation == 0


@pytest.mark.parametrize("verifier", [TOKEN, BLOCK], ids=lambda v: v.name)
def test_a_prepared_draft_is_verified_with_the_rows_it_was_drawn_from(verifier):
    cases = list(middles(SCENES))
    told = [replace(i, draft=Prepared(2, rows, own_rows=True)) for i, rows in cases]
    stale = [replace(i, draft=Prepared(2, rows, own_rows=False)) for i, rows in cases]
    hits = [replace(i, draft=Prepared(2, i.proposal, own_rows=False)) for i, _ in cases]
    assert all(judge(each, verifier).lossless for each in (*told, *hits))
    assert not all(judge(each, verifier).lossless for each in stale)
    assert [emission(a, verifier).law() for a in hits] == [emission(i, verifier).law() for i, _ in cases]


def test_comparing_with_the_argmax_is_off_by_a_half():
    found = judge(context_free(["1/2", "1/2"], [1, 0], Chain(1)), ARGMAX_MATCH)
    assert found.total_variation == fmpq(1, 2)
    sure = context_free([0, 1], ["1/2", "1/2"], Chain(1))  # a greedy target: it is right there
    assert judge(sure, ARGMAX_MATCH).lossless


def even(vocab, shape=hsd_eagle.SMALLEST):
    row = [f"1/{vocab}"] * vocab
    return context_free(row, row, TopK(shape))


def first_three(vocab):
    instance = even(vocab)
    return emission(instance, hsd_eagle.VERIFIER).law().complete(instance.target, 3).marginal(3)


def test_hsd_on_trees_has_the_law_that_the_released_code_was_seen_to_have():
    """60,000 runs of its `evaluate_posterior` gave 0.0368, 0.0112 and 0.0550, 40,000 at V = 2 the others."""
    three, two = first_three(3), first_three(2)
    wanted = {(0, 1, 0): "1/27", (0, 1, 1): "5/459", (0, 2, 0): "25/459"}
    assert {word: str(three[word]) for word in wanted} == wanted
    wanted = {(0, 0, 0): "1/6", (0, 1, 0): "1/8", (0, 1, 1): "1/24", (1, 1, 1): "1/8"}
    assert {word: str(two[word]) for word in wanted} == wanted


def test_hsd_on_trees_accepts_less_than_the_lossless_rule():
    for vocab in (2, 3):
        assert judge(even(vocab), hsd_eagle.VERIFIER).expected_accepted < (
            judge(even(vocab), named("nss")).expected_accepted
        )


@pytest.mark.parametrize("shape", [((),), (((),),), ((), ()), (((),), ((),)), (((), ()),)])
def test_hsd_on_trees_is_lossless_without_a_later_path_of_two(shape):
    assert all(judge(each, hsd_eagle.VERIFIER).lossless for each in Randoms(TopK(shape), 3, 10))


def test_the_carried_ratio_is_the_cause():
    fixed = edited(hsd_eagle, ("without(p, x), ratio", "without(p, x), one(p)"))
    assert judge(even(3), fixed).lossless
    assert not judge(even(3), hsd_eagle.VERIFIER).lossless
    assert law_of(even(3).target, 1)[(0,)] == fmpq(1, 3)
