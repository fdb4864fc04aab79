"""Medusa's typical acceptance (theory/verifiers/typical.py), among the rules that are measured.

>>> from draftproof.simulators.against import judge_against
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> judge_against(scenario("toy", Chain(2)), TARGET.rule, TARGET).token.total_variation
1/3
"""

from flint import fmpq

from draftproof.theory.oracle import Oracle
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declared
from draftproof.theory.verifier import Draft, Stop
from draftproof.theory.verifiers.typical import VERIFIER


def verify(parameter: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept a token when p(x) > min(epsilon, delta exp(-H(p)))."""
    return VERIFIER.verify(oracle, draft, target)


TARGET = Declared("typical", VERIFIER.source, verify=verify, drafts=VERIFIER.drafts, ordered=True)
