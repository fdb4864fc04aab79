"""The optima of an instance: enumerates its drafts and passes them to `theory.transport`."""

from functools import lru_cache

from flint import fmpq

from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.transport import block, bounds
from draftproof.theory.transport.block import chain_optima
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.transport.certificate import Certificate, certified
from draftproof.theory.transport.single_step import subset_formula

SETS = 10  # the largest vocabulary whose sets of tokens are enumerated


@lru_cache(maxsize=1)
def drafted(instance: Instance) -> block.Drafted:
    """The law of the drafted prefixes; cached for the last instance, since both optima use it."""
    return block.merged(drafts(instance))


def full_information(instance: Instance) -> Certificate:
    """The certified full-information optimum, a bound of every lossless verifier in its first call."""
    return certified(block.problem(drafted(instance), instance.target, instance.draft.depth))


def stateless(instance: Instance) -> Optimum:
    """The certified optimum of lossless verifiers without state."""
    return bounds.stateless(drafted(instance), instance.target)


def one_level(instance: Instance) -> fmpq:
    """Both optima of a draft of one level, in closed form: 1 + min over sets H of p(H) - Pr(all drafts in H).

    Raises BadInput for a deeper draft or more than SETS tokens.
    """
    if not _flat(instance):
        raise BadInput(f"optima in closed form are for drafts of depth 1 and up to {SETS} tokens")
    draws = {frozenset().union(*seen): mass for seen, mass in drafted(instance).items()}
    return subset_formula(instance.target[()], draws)


def best_stateless(instance: Instance) -> Optimum:
    """The optimum of lossless verifiers without state: in closed form on chains, where block verification has
    it (sun2025block), and on one level (hu2025towards); elsewhere certified.
    """
    if instance.draft.kind == "chain":
        _, exact = chain_optima(instance.target, instance.proposal, instance.draft.depth)
    elif _flat(instance):
        exact = one_level(instance)
    else:
        return stateless(instance)
    return Optimum(float(exact), exact, exact)


def best_full(instance: Instance) -> fmpq:
    """The full-information optimum, in closed form where there is one."""
    if instance.draft.kind == "chain":
        return chain_optima(instance.target, instance.proposal, instance.draft.depth)[0]
    return one_level(instance) if _flat(instance) else full_information(instance).value


def _flat(instance: Instance) -> bool:
    return instance.draft.depth == 1 and instance.vocab <= SETS
