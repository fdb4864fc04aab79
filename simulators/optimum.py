"""The optima of an instance: its drafts are enumerated here and handed to `theory.transport`."""

from collections.abc import Sequence
from functools import lru_cache

from flint import fmpq

from draftproof.simulators.enumerate import drafts
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.transport import block
from draftproof.theory.transport import partial as incomplete
from draftproof.theory.transport import stateless as problems
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.transport.certificate import Certificate, Transport, certified
from draftproof.theory.transport.single_step import subset_formula

SETS = 10  # the largest vocabulary of which every set of tokens is listed


@lru_cache(maxsize=1)
def drafted(instance: Instance) -> block.Drafted:
    """The law of the drafted prefixes; the last instance's is kept, since its optima share it."""
    return block.merged(drafts(instance))


def block_problem(instance: Instance) -> Transport:
    """The full-information block transport problem of an instance."""
    return block.problem(drafted(instance), instance.target, instance.draft.depth)


def full_information(instance: Instance) -> Certificate:
    """The certified full-information optimum, a bound of every lossless verifier in its first call."""
    return certified(block_problem(instance))


def stateless(instance: Instance) -> Optimum:
    """The certified optimum of lossless verifiers without state."""
    return problems.stateless(drafted(instance), instance.target)


def one_level(instance: Instance) -> fmpq:
    """Both optima of a draft of one level, in closed form: 1 + min over sets H of p(H) - Pr(all drafts in H).

    Raises BadInput for a deeper draft or more than SETS tokens.
    """
    if instance.draft.depth != 1 or instance.vocab > SETS:
        raise BadInput(f"optima in closed form are for drafts of depth 1 and up to {SETS} tokens")
    draws = {frozenset().union(*seen): mass for seen, mass in drafted(instance).items()}
    return subset_formula(instance.target[()], draws)


def completions(
    instance: Instance, choices: Sequence[tuple[Row | None, Row | None]] | None = None
) -> list[Instance]:
    """The instance, and those with other rows at the prefixes that may be drafted but need not be.

    `choices` are pairs (target row, proposal row), None for the true one; by default all of the target's
    mass is on one token.
    """
    prefixes = [block.drafted(draft.root) for _, draft in drafts(instance)]
    sometimes = frozenset.union(*prefixes) - frozenset.intersection(*prefixes)
    hidden = sorted(prefix for prefix in sometimes if len(prefix) < instance.draft.depth)
    if choices is None:
        choices = incomplete.points(instance.target[()])
    tables = incomplete.completions(instance.target, instance.proposal, hidden, choices)
    return [Instance(p, q, instance.draft, instance.name) for p, q in tables]


def partial_information(family: Sequence[Instance], weights: Sequence[fmpq] | None = None) -> Optimum:
    """The optimum of verifiers that see rows on the drafted tree only, valid on the whole family.

    `weights` says how the instances' E[tau] are scored; by default evenly, as a mean.
    """
    if weights is None:
        weights = [fmpq(1, len(family))] * len(family)
    return incomplete.partial([(drafts(one), one.target) for one in family], weights)
