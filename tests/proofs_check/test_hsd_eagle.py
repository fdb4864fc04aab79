"""HSD on EAGLE-3's trees, as released."""

import pytest
from flint import fmpq

from draftproof.proofs_check.claims.topics import hsd_eagle
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.instance import context_free
from draftproof.theory.law import law_of
from draftproof.theory.verifiers import named
from tests.mutants.edits import edited


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
