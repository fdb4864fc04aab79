"""Every listed bug that is a rule is refuted, with rational p and q, at a vocabulary of three at most."""

import pytest

from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from tests.mutants.rules import LISTED, PRODUCT, UNSCALED


def refuted(verifier, drafts):
    """The first counterexample; every case before it is proved lossless, none is left open."""
    for scheme in drafts:
        for vocab in (2, 3):
            proof = prove(verifier, scheme, vocab, seconds=900)
            assert proof.verdict != "undecided", proof.why
            if proof.counterexample is not None:
                assert proof.verdict == "refuted"
                return proof.counterexample
    return None


LONG = {"2", "26"}
"""Rows whose cells take many seconds."""


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, marks=[pytest.mark.slow] * (bug.row in LONG), id=f"{bug.row} {bug.name}")
        for bug in LISTED
    ],
)
@pytest.mark.sampled(6)
def test_every_bug_is_refuted_and_enumeration_agrees(bug):
    found = refuted(bug.verifier, bug.drafts)
    assert found is not None
    assert found.vocab <= 3
    assert not judge(found, bug.verifier).lossless


def test_the_product_rule_is_wrong_where_its_coins_do_not_matter():
    """Every ratio is 0 or at least 1, so the running product of coins gives the same law."""
    rows = {(): ["1", "0"], (0,): ["1/2", "1/2"], (1,): ["1/2", "1/2"]}
    proposal = {(): ["1/2", "1/2"], (0,): ["3/4", "1/4"], (1,): ["1/2", "1/2"]}
    instance = Instance(Table.exact(2, rows), Table.exact(2, proposal), Chain(2))
    assert not judge(instance, PRODUCT).lossless


def test_two_symbols_cannot_show_an_unscaled_residual():
    """With two symbols a residual has one token at most, scaled or not: V = 3 and two tokens it takes."""
    assert prove(UNSCALED, Chain(2), 2).verdict == "proved"
