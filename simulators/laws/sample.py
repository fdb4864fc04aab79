"""Monte Carlo: runs the same sampler programs with a random generator."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from draftproof.simulators.laws.repeat import carried
from draftproof.theory.draft import Draft
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop, Verifier
from draftproof.theory.verifiers.shared.leaf_shaping import extended


class Sampler:
    """The oracle that draws at random from rows of floats."""

    __slots__ = ("_random",)

    def __init__(self, rng: np.random.Generator):
        self._random = rng.random

    def choose(self, row: Row) -> int:
        left = self._random() * sum(row)  # a float row sums to 1 only up to rounding
        last = 0
        for token, mass in enumerate(row):
            if mass > 0:
                if left < mass:
                    return token
                left -= mass
                last = token
        return last

    def accept(self, probability: Number) -> bool:
        return self._random() < probability


def sample(
    instance: Instance, verifier: Verifier, runs: int, rng: np.random.Generator, iterations: int = 1
) -> Counter[Prefix]:
    """Counts how often each word was emitted in `runs` independent runs of `iterations` rounds.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> counts = sample(scenario("toy", Chain(2)), named("block"), 100, np.random.default_rng(0))
    >>> counts.total(), max(map(len, counts))
    (100, 3)
    """
    oracle, floats = Sampler(rng), instance.floats()
    return Counter(_run(floats, verifier, oracle, iterations) for _ in range(runs))


def _run(instance: Instance, verifier: Verifier, oracle: Sampler, iterations: int) -> Prefix:
    node, row = last_stop(instance, verifier, oracle, iterations)
    return (*node.prefix, oracle.choose(row))


def last_stop(
    instance: Instance,
    verifier: Verifier,
    oracle: Oracle,
    iterations: int,
    verify: Callable[[Oracle, Draft, Rows], Stop] | None = None,
) -> Stop:
    """Runs some iterations, with the oracle's choices; returns the stop of the last one and the row of Y.
    `verify` is run in place of the verifier's own.
    """
    verify = verify or verifier.verify
    proposal, word = instance.proposal, Prefix()
    target: Rows = instance.target
    for left in reversed(range(iterations)):
        draft = instance.draft.draw(oracle, proposal, word)
        if verifier.reads_leaves:
            extended(draft, proposal)
        node, row = verify(oracle, draft, target)
        if left:
            word = (*node.prefix, oracle.choose(row))
            target = carried(verifier, target, proposal, draft, node)
    return node, row
