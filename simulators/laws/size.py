"""How large an exact enumeration is, estimated before it begins; and what its size cannot show."""

from random import Random
from time import process_time

from draftproof.simulators.laws.enumerate import Enumerator, deepen
from draftproof.simulators.laws.repeat import carried, on_rationals
from draftproof.simulators.laws.verdict import target_law
from draftproof.theory.errors import BadInput, located
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

PROBES, SECONDS = 30, 0.05  # most random runs of an estimate; seconds for them, and for the first in order
RUNS = 10**9
"""Largest number of runs that are begun."""


class Descent:
    """The oracle that answers at random and multiplies the numbers of branches on its way. On average over
    descents the product is the number of leaves, that is of runs (Knuth's estimate).
    """

    def __init__(self, random: Random):
        self.random, self.leaves = random, 1

    def choose(self, row: Row) -> int:
        branches = [x for x, mass in enumerate(row) if mass > 0]
        self.leaves *= len(branches)
        return self.random.choice(branches)

    def accept(self, probability: Number) -> bool:
        return bool(self.choose((1 - probability, probability)))


def size(instance: Instance, verifier: Verifier, iterations: int = 1) -> float:
    """About how many runs an exact enumeration has. Raises BadInput if it has more than RUNS runs, or if the
    joint law that it is compared with has too many words.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> round(size(scenario("uniform target", Chain(1)), named("token")))
    3
    """
    joint = iterations > 1 or verifier.carry is not None
    iterations = max(iterations, 2) if joint else 1
    deepen(instance.draft)
    random, began, probes, runs = Random(0), process_time(), 0, 0.0
    started, done, more = Enumerator(ONE), 0, True  # random runs seldom end where a deep draft is accepted
    while more and (not done or process_time() - began < SECONDS):
        _run(instance, verifier, started, iterations)
        done, more = done + 1, started.next()
    middle = process_time()
    while more and probes < PROBES and (not probes or process_time() - middle < SECONDS):
        oracle = Descent(random)
        _run(instance, verifier, oracle, iterations)
        runs, probes = runs + oracle.leaves, probes + 1
    least = done + started.left + 1 if more else done
    runs = max(least, (instance.draft.depth + 1) * more, runs / max(probes, 1))
    if runs > RUNS:
        raise BadInput(
            f"{instance.name}: {verifier.name} has about {runs:.1e} runs, and the most are {RUNS:.0e}"
        )
    with located(f"{instance.name}: {verifier.name} needs the joint law of several calls"):
        _ = joint and target_law(instance.target, instance.draft.depth + iterations)
    return runs


def not_shown(depth: int, vocab: int) -> str:
    """Flaws that no verdict at this size can show; empty at a vocabulary of 3 and depth 2.

    >>> not_shown(2, 3), not_shown(1, 3)
    ('', 'depth=1 cannot show what one drafted token hands to the next')
    """
    flaws = []
    if vocab == 2:
        flaws.append(
            "vocab=2 cannot show how residuals, or q after a rejection, are scaled: one token has it all"
        )
    if depth == 1:
        flaws.append("depth=1 cannot show what one drafted token hands to the next")
    return "; ".join(flaws)


def _run(instance: Instance, verifier: Verifier, oracle: Oracle, iterations: int) -> None:
    # So many calls of the verifier, one after the other, with the choices of the oracle.
    proposal, word, verify = instance.proposal, Prefix(), on_rationals(verifier)
    target: Rows = instance.target
    try:
        for left in reversed(range(iterations)):
            draft = instance.draft.draw(oracle, proposal, word)
            node, row = verify(oracle, draft, target)
            if left:
                word = (*node.prefix, oracle.choose(row))
                target = carried(verifier, target, proposal, draft, node)
    except BadInput:
        raise
    except Exception:  # which the enumeration will find too
        pass
