"""Instances on which a verifier is not lossless, confirmed by exact enumeration."""

from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from simulators.verdict import judge
from simulators.witness import shrink
from theory.drafts import Scheme
from theory.instance import Instance
from theory.verifier import Verifier

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
