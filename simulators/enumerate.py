"""Exact enumeration: a sampler program is run once for every sequence of outcomes of its choices."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.emission import Emission
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row, one, possible
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

Result = TypeVar("Result")


class Enumerator:
    """The oracle that takes every branch in turn, depth first, and knows each one's weight.

    A branch of weight zero is never entered. The numbers are those of the weight it starts with;
    an exact enumeration refuses floats.
    """

    __slots__ = ("_at", "_start", "_trail")

    def __init__(self, start: Any):
        self._start = start
        self._trail: list[list[tuple[int, Any]]] = []  # the branches still to take at each choice
        self._at = 0

    @property
    def weight(self) -> Any:
        """The probability of the branches taken so far."""
        return self._trail[-1][-1][1] if self._trail else self._start

    def choose(self, row: Row) -> int:
        at = self._at
        self._at = at + 1
        if at == len(self._trail):
            weight = self.weight
            branches = [(x, weight * mass) for x, mass in enumerate(row) if possible(mass)]
            self._branch(branches)
        return self._trail[at][-1][0]

    def accept(self, probability: Number) -> bool:
        at = self._at
        self._at = at + 1
        if at == len(self._trail):
            weight, rest = self.weight, 1 - probability
            branches = [(1, weight * probability)] if possible(probability) else []
            if possible(rest):
                branches.append((0, weight * rest))
            self._branch(branches)
        return bool(self._trail[at][-1][0])

    def _branch(self, branches: list[tuple[int, Any]]) -> None:
        if not branches:
            raise ZeroDivisionError("nothing can be drawn from a row without mass")
        kind = type(self._start)
        for _, weight in branches:
            if type(weight) is not kind:
                found = type(weight).__name__
                raise TypeError(f"a weight of type {found} in an enumeration of {kind.__name__}")
        branches.reverse()
        self._trail.append(branches)

    def next(self) -> bool:
        """Goes back to the last choice that has a branch left; False if all branches were taken."""
        self._at = 0
        while self._trail:
            self._trail[-1].pop()
            if self._trail[-1]:
                return True
            self._trail.pop()
        return False


def outcomes(program: Callable[[Oracle], Result], start: Any = ONE) -> Iterator[tuple[Any, Result]]:
    """(weight, result) of every run of the program that has positive probability.

    >>> from draftproof.theory.numbers import exact
    >>> row = exact("1/4"), exact("3/4")
    >>> list(outcomes(lambda oracle: (oracle.choose(row), oracle.choose(row))))
    [(1/16, (0, 0)), (3/16, (0, 1)), (3/16, (1, 0)), (9/16, (1, 1))]
    """
    oracle = Enumerator(start)
    while True:
        result = program(oracle)
        yield oracle.weight, result
        if not oracle.next():
            return


def iteration(
    scheme: Scheme, proposal: Rows, verifier: Verifier, target: Rows, *, context: Prefix = (), start: Any
) -> Iterator[tuple[Any, Draft, Node, Row]]:
    """(weight, draft, node, row) of every stop of one iteration after `context`, entered with weight `start`.

    Drafts are enumerated outside, verification inside: each draft is drawn once.
    """
    for weight, draft in outcomes(lambda oracle: scheme.draw(oracle, proposal, context), start):
        verified = outcomes(lambda oracle, draft=draft: verifier.verify(oracle, draft, target), weight)
        for inner, (node, row) in verified:
            yield inner, draft, node, row


def drafts(instance: Instance) -> Iterator[tuple[Any, Draft]]:
    """(probability, draft) of every draft of the instance."""
    return outcomes(lambda oracle: instance.draft.draw(oracle, instance.proposal))


def emission(instance: Instance, verifier: Verifier) -> Emission:
    """The exact law of what one iteration from the empty context emits.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.verifiers import named
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> emitted = emission(toy, named("hsd-released"))
    >>> emitted.expected_accepted, emitted.total_variation, emitted.wrong_prefix()
    (4/3, 1/9, ((1, 0), 1/3, 2/9))
    """
    target = instance.target
    emitted = Emission(target)
    for weight, _, node, row in iteration(
        instance.draft, instance.proposal, verifier, target, start=one(target[()])
    ):
        emitted.add(weight, node, row)
    return emitted
