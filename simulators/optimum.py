"""Transport problems of an instance: the drafts are enumerated here, the mathematics is in theory."""

from collections.abc import Iterator

from flint import fmpq

from simulators.enumerate import outcomes
from theory.draft import Draft
from theory.instance import Instance
from theory.oracle import Oracle
from theory.transport import block
from theory.transport import stateless as problems
from theory.transport.certificate import Certificate, certified
from theory.transport.problem import Transport
from theory.transport.validity import Optimum


def drafts(instance: Instance) -> Iterator[tuple[fmpq, Draft]]:
    """(probability, draft) of every draft of the instance."""

    def draw(oracle: Oracle) -> Draft:
        return instance.draft.draw(oracle, instance.proposal)

    yield from outcomes(draw)


def block_problem(instance: Instance) -> Transport:
    """The full-information block transport problem of an instance."""
    return block.problem(drafts(instance), instance.target, instance.draft.depth)


def full_information(instance: Instance) -> Certificate:
    """The certified full-information optimum, which bounds E[tau] of every verifier.

    >>> from theory.drafts.chain import Chain
    >>> from theory.instance import context_free
    >>> full_information(context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))).value
    4/3
    """
    return certified(block_problem(instance))


def stateless(instance: Instance) -> Optimum:
    """The certified optimum of lossless verifiers without state.

    >>> from theory.drafts.chain import Chain
    >>> from theory.instance import context_free
    >>> round(stateless(context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))).value, 9)
    1.222222222
    """
    return problems.stateless(drafts(instance), instance.target)
