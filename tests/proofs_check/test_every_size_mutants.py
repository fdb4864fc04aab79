"""No generated mutant that enumeration refutes is proved at every size.

That the originals are proved is tested in every_size/test_prover.py.
"""

from random import Random

import pytest

from draftproof.proofs_check.every_size import prove_every_size
from tests.mutants.generated import MODULES, Generated, mutants, verdicts

EACH, OPERATIONS = 1, 8
"""Refuted mutants of each module, and edited operations of block, traversal and token, that every run of the
tests hands to the prover; the others are slow."""


def _verdict(mutant: Generated) -> str:
    # A mutant that does not stop is handed over with a limit to its loops.
    endless = verdicts()[mutant.name].get("flaw") in ("does not stop", "a number without bound")
    verifier = mutant.guarded() if endless else mutant.verifier()
    return prove_every_size(verifier).verdict


def _cases() -> list:
    refuted = [mutant for mutant in mutants() if verdicts()[mutant.name]["verdict"] == "refuted"]
    operations = [mutant.name for mutant in refuted if mutant.is_operation]
    quick = set(Random(0).sample(operations, OPERATIONS))
    for module in MODULES:
        names = [mutant.name for mutant in refuted if mutant.module is module]
        quick |= set(Random(0).sample(names, min(EACH, len(names))))
    return [
        pytest.param(each, id=each.name)
        if each.name in quick
        else pytest.param(each, id=each.name, marks=[pytest.mark.slow, pytest.mark.long])
        for each in refuted
    ]


@pytest.mark.parametrize("mutant", _cases())
@pytest.mark.sampled(12)
def test_a_refuted_mutant_is_not_proved(mutant):
    assert _verdict(mutant) != "proved"
