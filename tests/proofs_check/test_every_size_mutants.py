"""No generated mutant that enumeration refutes is proved at every size, and the originals are."""

from random import Random

import pytest

from draftproof.proofs_check.every_size import prove_every_size
from tests.mutants.generated import MODULES, Generated, mutants, verdicts

PROVED = (
    *("token", "nss", "one-hot", "specinfer", "rrs", "naive-tree"),
    *("block", "traversal", "lifted", "k-seq", "hsd", "hsd-naive", "greedy-block"),
)
"""The verifiers that are proved at every size from their own code."""
EACH = 1
"""Refuted mutants of each module that every run of the tests hands to the prover, beside every edited
operation of block, traversal and token; the others are slow."""


def _verdict(mutant: Generated) -> str:
    # A mutant that does not stop is handed over with a limit to its loops.
    endless = verdicts()[mutant.name].get("flaw") in ("does not stop", "a number without bound")
    verifier = mutant.guarded() if endless else mutant.verifier()
    return prove_every_size(verifier).verdict


def _cases() -> list:
    refuted = [mutant for mutant in mutants() if verdicts()[mutant.name]["verdict"] == "refuted"]
    quick = {mutant.name for mutant in refuted if mutant.is_operation}
    for module in MODULES:
        names = [mutant.name for mutant in refuted if mutant.module is module]
        quick |= set(Random(0).sample(names, min(EACH, len(names))))
    return [
        pytest.param(each, id=each.name)
        if each.name in quick
        else pytest.param(each, id=f"minutes {each.name}", marks=pytest.mark.slow)
        for each in refuted
    ]


@pytest.mark.parametrize("mutant", _cases())
def test_a_refuted_mutant_is_not_proved(mutant):
    assert _verdict(mutant) != "proved"


@pytest.mark.parametrize("module", [each for each in MODULES if each.VERIFIER.name in PROVED])
def test_the_original_is_proved(module):
    assert prove_every_size(module.VERIFIER).verdict == "proved"
