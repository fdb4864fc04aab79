"""Instances on which a verifier is not lossless, confirmed by exact enumeration."""

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.verdict import judge
from draftproof.simulators.witness import shrink
from draftproof.theory.drafts import Scheme
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier

RANDOM = 200
"""Random instances that are tried where sign cells cannot say."""


def wrong(instance: Instance, verifier: Verifier) -> bool:
    """Whether exact enumeration finds another law than the target's, or a division by zero."""
    try:
        return judge(instance, verifier, 1).wrong is not None
    except ZeroDivisionError:
        return True


def searched(verifier: Verifier, scheme: Scheme, vocab: int) -> tuple[Instance | None, int]:
    """The first counterexample among exact instances, if there is one, and how many were tried."""
    count = 0
    for instance in (*Scenarios(scheme, vocab), *Randoms(scheme, vocab, RANDOM)):
        count += 1
        if wrong(instance, verifier):
            return instance, count
    return None, count


def smaller(instance: Instance, verifier: Verifier) -> Instance:
    """A counterexample like it of the same vocabulary, with simpler rows."""
    vocab = instance.vocab
    return shrink(instance, lambda small: small.vocab == vocab and wrong(small, verifier))
