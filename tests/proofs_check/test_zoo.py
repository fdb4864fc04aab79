"""Every chain rule of the zoo is refuted, with rational p and q, at a vocabulary of three at most."""

import pytest

from proofs_check.prove import prove
from simulators.verdict import judge
from tests.proofs_check.zoo import TREES, ZOO, bug, product_of_ratios, unscaled_residual
from theory.drafts.chain import Chain
from theory.drafts.top_k import TopK
from theory.instance import Instance
from theory.table import Table
from theory.verifiers import token

SIZES = [(2, Chain(1)), (2, Chain(2)), (3, Chain(1)), (3, Chain(2))]


def refuted(verifier, sizes=SIZES):
    """The first counterexample by size; every other size is proved lossless, none is left open."""
    for vocab, scheme in sizes:
        proof = prove(verifier, scheme, vocab, seconds=900)
        assert proof.verdict != "undecided", proof.why
        if proof.counterexample is not None:
            assert proof.verdict == "refuted"
            return proof.counterexample
    return None


@pytest.mark.parametrize("verifier", ZOO, ids=lambda verifier: verifier.name)
def test_every_bug_is_refuted_and_enumeration_agrees(verifier):
    found = refuted(verifier)
    assert found is not None
    assert found.vocab <= 3
    assert not judge(found, verifier).lossless


@pytest.mark.parametrize(("verifier", "scheme"), TREES, ids=lambda each: getattr(each, "name", ""))
def test_every_bug_on_a_tree_is_refuted(verifier, scheme):
    found = refuted(verifier, [(2, scheme), (3, scheme)])
    assert found is not None
    assert found.vocab <= 3
    assert not judge(found, verifier).lossless


def test_a_greedy_draft_is_refuted_under_the_ratio_rule():
    """9: drafted by argmax, verified with the softmax q."""
    proof = prove(bug(9, "drafted greedily", token.verify), TopK(((),)), 2)
    found = proof.counterexample
    assert found is not None
    assert not judge(found, bug(9, "drafted greedily", token.verify)).lossless


def test_the_product_rule_is_wrong_where_its_coins_do_not_matter():
    """Every ratio is 0 or at least 1, so the running product of coins gives the same law."""
    rows = {(): ["1", "0"], (0,): ["1/2", "1/2"], (1,): ["1/2", "1/2"]}
    proposal = {(): ["1/2", "1/2"], (0,): ["3/4", "1/4"], (1,): ["1/2", "1/2"]}
    instance = Instance(Table.exact(2, rows), Table.exact(2, proposal), Chain(2))
    assert not judge(instance, bug(1, "product of ratios", product_of_ratios)).lossless


def test_two_symbols_cannot_show_an_unscaled_residual():
    """With two symbols a residual has one token at most, scaled or not: V = 3 and two tokens it takes."""
    assert prove(bug(2, "residual not scaled", unscaled_residual), Chain(2), 2).verdict == "proved"
